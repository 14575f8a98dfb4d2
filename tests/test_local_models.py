"""Models in files of this machine, as far as they can be tried without llama.cpp."""

import struct
from pathlib import Path

import pytest

from courtroom.models import local
from courtroom.models.connections import Connections
from courtroom.models.errors import ModelError
from courtroom.models.local import LocalServers, model_files
from courtroom.models.offers import offers
from courtroom.models.spec import ModelSpec


def gguf(context: int) -> bytes:
    """The beginning of a file: a text, a list of texts, a list of numbers, and the context."""

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    fields = (
        text("general.name") + struct.pack("<I", 8) + text("A model"),
        text("general.tags") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("b"),
        text("general.sizes") + struct.pack("<IIQ", 9, 4, 3) + struct.pack("<3I", 1, 2, 3),
        text("llama.context_length") + struct.pack("<II", 4, context),
    )
    return struct.pack("<4sIQQ", b"GGUF", 3, 0, len(fields)) + b"".join(fields)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COURTROOM_MODELS", str(tmp_path))
    monkeypatch.setattr(local, "PACKAGES", ())
    (tmp_path / "small.gguf").write_bytes(gguf(4096))
    (tmp_path / "large.gguf").write_bytes(gguf(131_072))
    (tmp_path / "damaged.gguf").write_bytes(gguf(4096)[:60])
    (tmp_path / "none.gguf").write_bytes(b"This is no model.")
    (tmp_path / "hostile.gguf").write_bytes(struct.pack("<4sIQQQ", b"GGUF", 3, 0, 2**60, 2**63) + b"x" * 100)
    (tmp_path / "notes.txt").write_text("nothing")
    return tmp_path


def test_the_files_that_hold_a_model_are_offered_with_their_context_and_named_without_a_path(folder: Path) -> None:
    found = model_files()
    assert {name: file.context for name, file in found.items()} == {
        "local/large.gguf": 131_072,
        "local/small.gguf": 4096,
    }
    assert found["local/large.gguf"].slot == local.MOST_CONTEXT
    offered = {offer.id: offer.context for offer in offers(Connections(), {}, {})}
    assert offered["local/small.gguf"] == 4096
    assert not ModelSpec(id="local/small.gguf").problem()
    with pytest.raises(ValueError, match="holds no address"):
        ModelSpec(id="local/../small.gguf")


@pytest.mark.parametrize("name", ["local/../small.gguf", "local//etc/passwd", "local/absent.gguf"])
async def test_a_name_leads_to_no_file_but_those_in_the_folder(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "find_spec", lambda package: True)
    loading: set[str] = set()
    with pytest.raises(ModelError, match="There is no model"):
        async with LocalServers().asked(name, loading):
            pass
    assert not loading


async def test_without_llama_cpp_the_sentence_says_what_to_install(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "find_spec", lambda package: None)
    with pytest.raises(ModelError, match="install the extra `local`"):
        async with LocalServers().asked("local/small.gguf", set()):
            pass


async def test_a_file_that_llama_cpp_cannot_load_is_named(folder: Path) -> None:
    pytest.importorskip("xllamacpp")
    with pytest.raises(ModelError, match="can't load local/small.gguf"):
        async with LocalServers().asked("local/small.gguf", set()):
            pass
