"""An embedding model behind a real HTTP server: what it is asked, and what is said where it fails."""

import asyncio
import json
import logging
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from aiohttp import web
from pydantic import ValidationError
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from courtroom import Courthouse, Setup
from courtroom.knowledge import embedding, vectors
from courtroom.knowledge.vectors import AT_ONCE, LONGEST, LiteLLMEmbedding, longest
from courtroom.models.request import ModelError
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from tests.docs import ROOT
from tests.driving import drive
from tests.server_thread import WebServer

KEY = "sk-a-key-that-nobody-may-see"
Answer = Callable[[int, list[str]], web.Response]


def reply_of(texts: list[str], count: int | None = None) -> web.Response:
    rows = [{"object": "embedding", "index": n, "embedding": [3.0, float(len(t))]} for n, t in enumerate(texts)]
    return web.json_response({"object": "list", "data": rows[:count], "model": "m", "usage": {"prompt_tokens": 1}})


@contextmanager
def serving(answer: Answer, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[list[str]]]:
    """A server whose n-th call, from 1, gets the answer; yields what it was asked."""
    asked: list[list[str]] = []

    class Embedder(WebServer):
        def _routes(self) -> list[web.RouteDef]:
            return [web.post("/v1/embeddings", self._embed)]

        async def _embed(self, request: web.Request) -> web.Response:
            asked.append((await request.json())["input"])
            return answer(len(asked), asked[-1])

    with Embedder() as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        yield asked


async def test_a_text_that_is_longer_than_the_model_takes_is_cut_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = await asyncio.to_thread(longest, "openai/text-embedding-3-small")
    assert limit == 8191
    with serving(lambda _, batch: reply_of(batch), monkeypatch) as asked:
        texts = ["short", "x" * 100_000, "字" * 100_000]
        await LiteLLMEmbedding("openai/text-embedding-3-small").embed(texts)
    assert [len(text) for text in asked[0]] == [5, 3 * limit, 2 * limit // 3]
    assert all(text.startswith(sent) for text, sent in zip(texts, asked[0], strict=True))
    assert longest("openai/nobody-knows") == LONGEST


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder `tiny` in the folder of models."""
    monkeypatch.setenv("COURTROOM_MODELS", str(tmp_path))
    (tmp_path / "tiny").mkdir()
    return tmp_path / "tiny"


TABLE = ROOT / "tests" / "inputs" / "table.onnx"
"""An encoder: a token's state is its row of the table (0 0, 1 0, 1 0, 0 1)."""


@pytest.mark.parametrize(("pooling", "wanted"), [("", [0.5**0.5, 0.5**0.5]), ("pooling_mode_cls_token", [1, 0])])
async def test_a_folder_names_its_encoder(pooling: str, wanted: list[float], tiny: Path, house: Courthouse) -> None:
    vocabulary = {"[UNK]": 0, "kettle": 1, "teapot": 2, "ticket": 3}
    tokenizer = Tokenizer(WordLevel(vocabulary, "[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(tiny / "tokenizer.json"))
    (tiny / "tokenizer_config.json").write_text('{"model_max_length": 2}')
    shutil.copy(TABLE, tiny / "model.onnx")
    (tiny / "1_Pooling").mkdir()
    (tiny / "1_Pooling" / "config.json").write_text(json.dumps({pooling: True}))
    assert embedding.about_embedding("local/tiny").startswith("local/tiny runs on this machine")
    setup = CyberJurorsSetup(embedding="local/tiny", jury_size=3, rounds=1)
    encoder = vectors.embedding_of(setup.embedding)
    assert encoder.name != "local/tiny"  # another encoder of that name has another
    found = await encoder.embed(["kettle ticket", "kettle", "teapot", "kettle ticket ticket", "kettle ticket kettle"])
    assert np.allclose(found[0], wanted)
    assert np.allclose(found[1], found[2])  # two words that share no letter
    assert np.allclose(found[0], found[3:])  # it reads two tokens
    run = drive(house, house.new_run("cyberjurors", house.library.case("oak-table"), setup, 0))
    assert house.record(run).run.verdict is not None


@pytest.mark.parametrize("name", sorted(embedding.LOCAL))
async def test_an_encoder_that_is_not_there_says_so(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelError, match="There is no encoder local/gone here"):
        await vectors.LocalEncoder("local/gone").embed(["a"])
    monkeypatch.setitem(sys.modules, embedding.LOCAL[name].library, None)  # as where the extra is not installed
    with pytest.raises(ModelError, match=r"pip install 'courtroom\[embeddings\]'"):
        await vectors.LocalEncoder(name).embed(["a"])
    assert isinstance(vectors.embedding_of(name), vectors.LocalEncoder)


def test_an_offered_embedding_can_be_chosen_and_none_that_says_where_it_is_asked() -> None:
    for name in ("", embedding.DEFAULT, embedding.HASHED, *embedding.LOCAL, *embedding.REMOTE):
        assert Setup(embedding=name).embedding == name
        assert embedding.about_embedding(name or embedding.DEFAULT)
    hostile = ("http://evil.example/v1", "openai/x?key=1", "local/../../etc")
    for name in (*hostile, "local/org/model", "offline", "nobody/x"):
        with pytest.raises(ValidationError):
            Setup(embedding=name)


async def test_a_server_that_fails_is_asked_again_and_never_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(call: int, batch: list[str]) -> web.Response:
        assert all(text.strip() for text in batch), "a text without a word is never sent empty"
        return {1: web.Response(status=500), 2: reply_of(batch, 1)}.get(call) or reply_of(batch)

    texts = ["", *("x" * n for n in range(1, AT_ONCE + 6))]
    with serving(answer, monkeypatch) as asked:
        found = await LiteLLMEmbedding("openai/any").embed(texts)
    assert [len(batch) for batch in asked] == [AT_ONCE, AT_ONCE, AT_ONCE, 6]
    assert np.allclose((found[:, 1] / found[:, 0])[1:], [len(text) / 3 for text in texts[1:]]), "they come in order"


async def test_a_refused_key_is_not_told(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    refusal = {"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}}
    caplog.set_level(logging.WARNING, "courtroom")
    refused = pytest.raises(ModelError, match=r"openai/any gave no vectors\. Check .* its key")
    with serving(lambda *_: web.json_response(refusal, status=401), monkeypatch) as asked, refused as told:
        await LiteLLMEmbedding("openai/any").embed(["a"])
    assert len(asked) == 1
    assert told.value.__cause__ is None
    assert KEY not in caplog.text + str(told.value)
    assert "openai/any" in caplog.text


async def test_the_default_embedding_knows_english_words_of_one_meaning() -> None:
    found = await vectors.WordsAndMeaning().embed(
        ["She shoplifted goods", "A woman stole from a store", "The show is cancelled", ""]
    )
    assert found.shape == (4, vectors.DIMENSIONS + vectors.MEANINGS)
    assert found[0] @ found[1] > found[0] @ found[2]
    assert not found[3].any()
    chinese = ["被告人在公交车上扒窃他人钱包", "他偷了手机"]
    by_words = await vectors.HashedNgrams().embed(chinese)
    found = (await vectors.WordsAndMeaning().embed(chinese))[:, : vectors.DIMENSIONS]
    assert np.allclose(found, by_words, atol=1e-6)
