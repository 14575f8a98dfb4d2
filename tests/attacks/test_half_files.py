"""Files that are being written when the process dies: the old one is whole until the new one is."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from courtroom.courthouse import Courthouse
from courtroom.errors import MediaError
from courtroom.experiments.written import write_frame
from courtroom.film.film import film
from courtroom.film.picture import Painter
from courtroom.settings import Settings
from courtroom.shell.options import write
from courtroom.text.files import replacing
from tests import forks

OLD = b"the old file"


def die(*given: Any, **options: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def killed_film(to: Path) -> None:
    """Draw a film, and die at its second picture."""
    from courtroom import film as films
    from tests.full_store import full_store

    house = Courthouse(Settings(home=full_store()[0]))
    record = house.record(full_store()[1])
    told = films.scene_to_film(record, house.procedures[record.run.procedure])
    real, drawn = Painter.picture, []

    def picture(painter: Painter, *given: Any, **options: Any) -> Any:
        if drawn:
            die()
        drawn.append(1)
        return real(painter, *given, **options)

    Painter.picture = picture  # type: ignore[method-assign]
    film(told, films.storyboard(told, 20), to)


def killed_write(to: Path) -> None:
    """Write a text, and die before the last byte is on disk."""
    written = Path.write_bytes
    Path.write_bytes = lambda path, body: (written(path, body[:5]), die())  # type: ignore
    write(to, "the new file")


def killed_frame(to: Path) -> None:
    frame = pd.DataFrame({"a": range(10)})
    frame.to_json = lambda path, **options: (Path(path).write_bytes(b"{"), die())  # type: ignore
    write_frame(frame, to)


@pytest.mark.parametrize(
    ("work", "name"), [(killed_film, "a.mp4"), (killed_write, "a.json"), (killed_frame, "a.jsonl")]
)
def test_a_killed_writer_leaves_the_old_file(work: Callable[[Path], None], name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(OLD)
    with forks.Fork(work, tmp_path / name) as writer:
        assert writer.finish().returncode == -signal.SIGKILL
    assert (tmp_path / name).read_bytes() == OLD


def test_files_are_replaced_through_links_and_devices_are_not(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(OLD)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    for name in (tmp_path / "link", Path("/dev/null")):
        with replacing(name) as part:
            part.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    assert not Path("/dev/null").is_file()
    with pytest.raises(IsADirectoryError), replacing(tmp_path / "real") as part:
        tmp_path.write_text("half")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "real"]


def test_a_storage_in_memory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MediaError, match="Name a folder or a storage"):
        Courthouse(Settings(home=tmp_path, media="memory://court"))
