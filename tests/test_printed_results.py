"""Results are worked out again only where something has changed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from courtroom.courthouse import Courthouse
from courtroom.experiments.service import Experiments
from courtroom.settings import Settings
from courtroom.shell.commands import app
from tests.driving import done
from tests.test_experiments import spec, texts


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A store with an experiment that is done."""
    home = tmp_path / "home"
    monkeypatch.setenv("COURTROOM_HOME", str(home))
    house = Courthouse(Settings(home=home))
    house.datasets.add("feelings", texts())
    done(house, spec())
    house.close()
    return home


def shown(*words: str) -> str:
    ran = CliRunner().invoke(app, ["experiment", "results", "feelings", *words])
    assert ran.exit_code == 0, ran.output
    return ran.output


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_what_has_not_changed_is_printed_as_it_was(
    home: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = shown(*words)
    worked: list[str] = []
    results = Experiments.results

    def counted(self: Experiments, name: str) -> object:
        worked.append(name)
        return results(self, name)

    monkeypatch.setattr(Experiments, "results", counted)
    assert shown(*words) == first
    assert worked == []
    house = Courthouse(Settings(home=home))
    house.experiments.store.conclude(house.experiments.store.experiment("feelings").id, 1, None, "It was taken back.")
    house.close()
    assert "It was taken back." in shown(*words)
    assert len(worked) == 1


def test_the_kept_texts_may_be_removed_and_a_deleted_experiment_leaves_none_behind(home: Path) -> None:
    first = shown()
    for file in (home / "results").iterdir():
        file.unlink()
    assert shown() == first
    house = Courthouse(Settings(home=home))
    house.experiments.delete("feelings")
    house.close()
    assert list((home / "results").iterdir()) == []
