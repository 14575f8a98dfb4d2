"""LiteLLM's proxy between Courtroom and a model, set up as docs/models.md says."""

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from courtroom.courthouse import Courthouse
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.settings import Settings
from tests.app_server import answers, free_port
from tests.docs import blocks
from tests.driving import drive
from tests.openai_server import OpenAIServer

MASTER, PROVIDERS = "sk-the-proxys-own-key", "sk-the-providers-key"


def command() -> Path | None:
    """`litellm` of an environment that has the package's extra `proxy`."""
    for found in (Path(sys.executable).with_name("litellm"), shutil.which("litellm")):
        if found is None or not (python := Path(found).with_name("python")).exists():
            continue
        asked = "import importlib.util as u, sys; sys.exit(not (u.find_spec('litellm_proxy_extras') and u.find_spec('apscheduler')))"
        if subprocess.run([python, "-c", asked]).returncode == 0:
            return Path(found)
    return None


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[tuple[str, OpenAIServer]]:
    """The proxy's address, and the server behind it."""
    litellm = command()
    if litellm is None:
        pytest.skip("no proxy here: put the `litellm` of an environment with litellm[proxy] on the PATH")
    config, port = tmp_path / "proxy.yaml", free_port()
    config.write_text("".join(blocks("docs/models.md", "yaml")))
    with OpenAIServer() as server, (tmp_path / "proxy.log").open("wb") as log:
        ours = {"LAB_ADDRESS": server.url, "LAB_KEY": PROVIDERS, "LITELLM_MASTER_KEY": MASTER}
        given = {**os.environ, **ours, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        words = [str(litellm), "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]
        with subprocess.Popen(words, env=given, cwd=tmp_path, stdout=log, stderr=log) as process:
            try:
                address, alive = f"http://127.0.0.1:{port}", "/health/liveliness"
                yield f"{answers(address, alive, process.poll, tmp_path / 'proxy.log')}/v1", server
            finally:
                process.kill()


def test_a_run_asks_through_the_proxy_with_the_proxys_key(
    proxy: tuple[str, OpenAIServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, server = proxy
    (listed,) = (block for block in blocks("docs/models.md", "toml") if "connections.proxy" in block)
    (tmp_path / "connections.toml").write_text(listed.replace("http://127.0.0.1:4000/v1", address))
    assert tomllib.loads(listed)["connections"]["proxy"]["key_from"] == "PROXY_KEY"
    monkeypatch.setenv("PROXY_KEY", MASTER)
    house = Courthouse(Settings(home=tmp_path / "home", connections=tmp_path / "connections.toml"))
    model = {"id": "small", "connection": "proxy"}
    setup = CyberJurorsSetup.model_validate({"jury_size": 3, "rounds": 1, "model": model})
    run = drive(house, house.new_run("cyberjurors", house.library.case("oak-table"), setup, 0))
    record = house.record(run)
    house.close()
    assert record.run.verdict is not None, record.run.reason
    asked = [call for call in record.calls if call.source == "asked"]
    assert not [call.error for call in asked if call.error]
    assert {call.connection for call in asked} == {"proxy"}
    assert sum(call.prompt_tokens for call in asked) > 0
    assert sum(server.answered.values()) == sum(call.attempts for call in asked)
