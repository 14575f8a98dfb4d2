"""compose.yaml: each variable is a setting, each service has a health check and a volume, the versions are those of the lock."""

import os
import re
import shutil
import subprocess
from typing import Any

import pytest
import yaml

from courtroom.models.providers import PROVIDERS
from courtroom.settings import Settings
from tests.docs import ROOT

TOLD = (ROOT / "docs" / "install.md").read_text()


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / "compose.yaml").read_text()))


def test_every_variable_of_the_app_is_one_that_it_reads(
    compose: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = compose["services"]["app"]["environment"]
    keys = {name for provider in PROVIDERS.values() for name in provider.keys}
    documented = set(re.findall(r"`(COURTROOM_\w+)`", TOLD))
    assert {name for name in given if name.startswith("COURTROOM_")} <= documented
    assert {name for name in given if not name.startswith("COURTROOM_")} <= keys
    for name, value in given.items():
        if value is not None:
            monkeypatch.setenv(name, re.sub(r"\$\{POSTGRES_PASSWORD:[^}]*\}", "word", value))
    settings = Settings()
    assert (settings.chroma_host, settings.chroma_port, settings.log) == ("chroma", 8000, "json")
    assert "word" not in repr(settings)
    assert getattr(settings.database, "get_secret_value")() == "postgresql://courtroom:word@database/courtroom"  # noqa: B009


def test_every_service_is_checked_and_keeps_what_it_has_in_a_volume(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert set(services) == {"app", "database", "chroma"}
    for service in services.values():
        assert service["healthcheck"]["test"][0] == "CMD"
        assert [mount.split(":")[0] for mount in service["volumes"]][0] in compose["volumes"]
    assert {one: wait["condition"] for one, wait in services["app"]["depends_on"].items()} == {
        "database": "service_healthy",
        "chroma": "service_healthy",
    }
    assert services["app"]["ports"] == ["127.0.0.1:8501:8501"], "there are no accounts"
    assert all("ports" not in services[one] for one in ("database", "chroma")), "they ask for no person"
    (locked,) = re.findall(r"^chromadb==(\S+)$", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    assert services["chroma"]["image"] == f"chromadb/chroma:{locked}"
    assert services["app"]["environment"]["COURTROOM_HOME"] == services["app"]["volumes"][0].partition(":")[2]
    assert (
        f"HEALTHCHECK --start-period=30s --timeout=20s \\\n    CMD {services['app']['healthcheck']['test'][1:]}".replace(
            "'", '"'
        )
        in (ROOT / "Dockerfile").read_text()
    )


def test_docker_takes_the_file() -> None:
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "compose", "version"], capture_output=True).returncode:
        pytest.skip("no `docker compose` here: install Docker with its compose plugin")
    command = [docker, "compose", "-f", str(ROOT / "compose.yaml"), "config", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "POSTGRES_PASSWORD": "word"})
    assert done.returncode == 0, done.stderr
