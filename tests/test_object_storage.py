"""Media in object storage: kept whole by their content, copied where they are used, checked when they are read."""

import logging
import shutil
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock
from uuid import uuid4

import fsspec
import pytest
from moto.server import ThreadedMotoServer

from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError, MediaError
from courtroom.media.store import MediaStore, ObjectStorage, media_of
from courtroom.settings import Settings, from_environment
from courtroom.upkeep import backup
from courtroom.upkeep.doctor import examine
from tests.pictures import png

# Of botocore and of moto's server.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

BIG = png((300, 200))


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """A server that speaks S3's protocol, with a bucket."""
    with pytest.MonkeyPatch.context() as patch:
        server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        logging.getLogger("werkzeug").setLevel(logging.WARNING)
        server.start()
        _, port = server.get_host_and_port()
        patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "tests")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "tests")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        fsspec.filesystem("s3").mkdir("s3://court")
        yield "s3://court"
        server.stop()


@pytest.fixture
def url(s3: str) -> str:
    return f"{s3}/{uuid4().hex[:8]}"


def test_half_a_file_is_named_and_never_shown_until_it_is_brought_in_again(url: str, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", media=url)
    Courthouse(settings).close()
    sha256 = MediaStore(tmp_path / "one", ObjectStorage(url)).take(BIG, "a.png")
    name = f"{sha256}.png"
    MediaStore(tmp_path / "one", ObjectStorage(url)).path(sha256).write_bytes(b"something else")
    fresh = MediaStore(tmp_path / "one", ObjectStorage(url))
    assert fresh.path(sha256).read_bytes() == BIG, "a damaged copy is copied again"
    for number, broken in enumerate((BIG[: len(BIG) // 2], b"", BIG[:-1] + b"\0", b"<svg onload=alert(1)>")):
        ObjectStorage(url).put(name, broken)
        other = MediaStore(tmp_path / f"other-{number}", ObjectStorage(url))
        with pytest.raises(MediaError, match="damaged in the storage"):
            other.path(sha256)
        assert not other.folder.exists(), "no half copy stays"
    (found,) = (one for one in examine(settings) if one.about == "media")
    assert (found.state, "is damaged" in found.sentence) == ("wrong", True)
    assert MediaStore(tmp_path / "new", ObjectStorage(url)).take(BIG, "a.png") == sha256
    assert MediaStore(tmp_path / "again", ObjectStorage(url)).path(sha256).read_bytes() == BIG


def test_a_storage_that_fails_midway_loses_nothing(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = ObjectStorage(url)
    before = MediaStore(tmp_path / "one", storage).take(BIG, "before.png")
    store = MediaStore(tmp_path / "two", storage)
    put = storage.put
    monkeypatch.setattr(storage, "put", Mock(side_effect=MediaError("no more")))
    with pytest.raises(MediaError, match="no more"):
        store.keep({"a.png": BIG, "c.png": png((7, 7))})
    assert storage.names() == [f"{before}.png"]
    monkeypatch.setattr(storage, "put", put)
    kept = store.keep({"a.png": BIG, "c.png": png((7, 7))})
    assert {name.partition(".")[0] for name in storage.names()} == {one.sha256 for one in kept.values()}


def test_a_backup_moves_media_from_a_folder_to_a_storage(url: str, tmp_path: Path) -> None:
    here = Settings(home=tmp_path / "here")
    house = Courthouse(here)
    wanted = {one.sha256 for case in house.library.cases() for one in case.media()}
    house.close()
    count = backup.write(here, tmp_path / "all.zip")
    there = Settings(home=tmp_path / "there", media=url)
    assert backup.restore(there, tmp_path / "all.zip") == count
    assert not (there.home / "media").exists()
    assert {name.partition(".")[0] for name in media_of(there).names()} == wanted != set()
    assert backup.write(there, tmp_path / "again.zip") == count
    name = media_of(there).names()[0]
    ObjectStorage(url).put(name, bytes(ObjectStorage(url).size(name) or 0))
    (found,) = (one for one in examine(there) if one.about == "media")
    assert (found.state, "is damaged" in found.sentence) == ("wrong", True)
    assert "mended" in {one.state for one in examine(there, mend=True) if one.about == "media"}
    assert f"{name}.damaged" in ObjectStorage(url).names()
    shutil.rmtree(there.home / "media")
    assert {one.state for one in examine(there) if one.about == "media"} == {"fine"}, "it was a sample's"


def test_a_silent_storage_is_named_without_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, s3: str) -> None:
    with pytest.raises(MediaError, match=r"at s3://no-such-bucket does not answer \(\w+\)\. Check the server"):
        MediaStore(tmp_path, ObjectStorage("s3://no-such-bucket")).take(BIG, "a.png")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(MediaError, match="a kind of storage that is not known"):
        ObjectStorage("nowhere://x").names()
    for wrong in ("s3://key:secret@bucket", "just/a/folder"):
        monkeypatch.setenv("COURTROOM_MEDIA", wrong)
        with pytest.raises(CourtroomError, match="^COURTROOM_MEDIA has a value that does not fit"):
            from_environment()
