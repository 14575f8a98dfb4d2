"""An embedding model behind a real HTTP server: what it is asked, and what is said where it fails."""

import asyncio
import logging
import re
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from aiohttp import web
from pydantic import ValidationError

from courtroom.engine.setup import Setup
from courtroom.knowledge.bases import bundled_cases
from courtroom.knowledge.embedding import (
    DEFAULT,
    DIMENSIONS,
    LOCAL,
    REMOTE,
    Encoder,
    HashedNgrams,
    LocalEncoder,
    about_embedding,
    embedding_of,
)
from courtroom.knowledge.litellm_embedding import AT_ONCE, LONGEST, LiteLLMEmbedding, longest
from courtroom.models.errors import ModelError
from courtroom.text.words import STOP_WORDS, words

CHINESE = re.compile(r"[\u3400-\u9fff]+")
KEY = "sk-a-key-that-nobody-may-see"
Answer = Callable[[int, list[str]], web.Response]


def vectors(texts: list[str], count: int | None = None) -> web.Response:
    rows = [{"object": "embedding", "index": n, "embedding": [3.0, float(len(t))]} for n, t in enumerate(texts)]
    return web.json_response({"object": "list", "data": rows[:count], "model": "m", "usage": {"prompt_tokens": 1}})


@asynccontextmanager
async def serving(answer: Answer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[list[list[str]]]:
    """A server whose n-th call, from 1, gets the answer; yields what it was asked."""
    asked: list[list[str]] = []

    async def embed(request: web.Request) -> web.Response:
        body: dict[str, Any] = await request.json()
        asked.append(body["input"])
        return answer(len(asked), body["input"])

    app = web.Application()
    app.router.add_post("/v1/embeddings", embed)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    monkeypatch.setenv("OPENAI_API_BASE", f"http://127.0.0.1:{port}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    try:
        yield asked
    finally:
        await runner.cleanup()


async def test_many_texts_are_asked_for_in_small_calls_and_come_back_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["x" * n for n in range(1, 2 * AT_ONCE + 6)]
    async with serving(lambda _, batch: vectors(batch), monkeypatch) as asked:
        found = await LiteLLMEmbedding("openai/any").embed(texts)
    assert [len(batch) for batch in asked] == [AT_ONCE, AT_ONCE, 5]
    lengths = np.array([len(text) for text in texts])
    assert np.allclose(found[:, 1] / found[:, 0], lengths / 3)
    assert np.allclose(np.linalg.norm(found, axis=1), 1)


async def test_a_text_that_is_longer_than_the_model_takes_is_cut_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = await asyncio.to_thread(longest, "openai/text-embedding-3-small")
    assert limit == 8191
    async with serving(lambda _, batch: vectors(batch), monkeypatch) as asked:
        texts = ["short", "x" * 100_000, "字" * 100_000]
        await LiteLLMEmbedding("openai/text-embedding-3-small").embed(texts)
    assert [len(text) for text in asked[0]] == [5, 3 * limit, 2 * limit // 3]
    assert all(text.startswith(sent) for text, sent in zip(texts, asked[0], strict=True))
    assert longest("openai/nobody-knows") == LONGEST


async def test_spacys_vectors_are_the_mean_of_the_words_and_the_model_is_loaded_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    spacy = pytest.importorskip("spacy")
    model = spacy.blank("en")
    model.vocab.set_vector("kettle", np.array([1, 0], np.float32))
    model.vocab.set_vector("ticket", np.array([0, 1], np.float32))
    model.to_disk(tmp_path)
    monkeypatch.setitem(cast(dict[str, Encoder], LOCAL), "local/tiny", Encoder("spacy", str(tmp_path), ""))
    encoder = LocalEncoder("local/tiny")
    found = await encoder.embed(["kettle", "kettle ticket", "ticket", "nothing"])
    assert np.allclose(found, [[1, 0], [0.5**0.5, 0.5**0.5], [0, 1], [0, 0]], atol=1e-6)
    shutil.rmtree(tmp_path)
    assert np.allclose(await encoder.embed(["kettle"]), [[1, 0]])


async def test_a_transformer_reads_a_text_as_far_as_it_can(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    import transformers

    (tmp_path / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "kettle", "ticket"]))
    one = {"num_hidden_layers": 1, "num_attention_heads": 1, "max_position_embeddings": 16}
    config = transformers.BertConfig(vocab_size=7, hidden_size=8, intermediate_size=8, **one)
    transformers.BertModel(config).save_pretrained(tmp_path)
    transformers.BertTokenizerFast(str(tmp_path / "vocab.txt"), model_max_length=16).save_pretrained(tmp_path)
    tiny = Encoder("sentence_transformers", str(tmp_path), "")
    monkeypatch.setitem(cast(dict[str, Encoder], LOCAL), "local/tiny", tiny)
    found = await LocalEncoder("local/tiny").embed(["kettle " * 14, "kettle " * 14 + "ticket", "ticket"])
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    assert np.allclose(found[0], found[1], atol=1e-5)
    assert not np.allclose(found[0], found[2], atol=1e-3)


@pytest.mark.parametrize("name", sorted(LOCAL))
async def test_an_encoder_whose_model_or_library_is_not_there_says_so(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, LOCAL[name].library, None)  # as where the extra is not installed
    with pytest.raises(ModelError, match=r"pip install 'courtroom\[(embeddings|wordllama)\]'"):
        await LocalEncoder(name).embed(["a"])
    assert isinstance(embedding_of(name), LocalEncoder)


def test_an_offered_embedding_can_be_chosen_and_none_that_says_where_it_is_asked() -> None:
    for name in ("", DEFAULT, *LOCAL, *REMOTE):
        assert Setup(embedding=name).embedding == name
        assert about_embedding(name or DEFAULT)
    for name in (
        "http://evil.example/v1",
        "openai/x?key=1",
        "local/../../etc",
        "local/org/model",
        "offline",
        "nobody/x",
    ):
        with pytest.raises(ValidationError):
            Setup(embedding=name)


async def test_a_server_that_fails_or_sends_too_few_is_asked_again_and_never_for_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def answer(call: int, batch: list[str]) -> web.Response:
        assert all(text.strip() for text in batch), "a text without a word is never sent empty"
        return {1: web.Response(status=500), 2: vectors(batch, 1)}.get(call) or vectors(batch)

    async with serving(answer, monkeypatch) as asked:
        assert (await LiteLLMEmbedding("openai/any").embed(["", "a", " "])).shape == (3, 2)
    assert len(asked) == 3


async def test_a_refused_key_is_asked_once_and_told_without_the_key(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    refusal = {"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}}
    with caplog.at_level(logging.WARNING, "courtroom"):
        async with serving(lambda *_: web.json_response(refusal, status=401), monkeypatch) as asked:
            with pytest.raises(ModelError, match=r"openai/any gave no vectors\. Check .* its key") as told:
                await LiteLLMEmbedding("openai/any").embed(["a"])
    assert len(asked) == 1
    assert told.value.__cause__ is None
    assert KEY not in caplog.text + str(told.value)
    assert "openai/any" in caplog.text


async def test_the_default_embedding_is_the_same_each_time_and_has_no_vector_for_no_words() -> None:
    texts = ["battery 电池", ""]
    first, second = await HashedNgrams().embed(texts), await HashedNgrams().embed(texts)
    assert np.array_equal(first, second)
    assert first.shape == (2, DIMENSIONS)
    assert np.linalg.norm(first[0]) == pytest.approx(1)
    assert not first[1].any()
    assert (await HashedNgrams().embed([])).shape == (0, DIMENSIONS)


def test_chinese_words_are_those_that_jieba_finds() -> None:
    import jieba

    jieba.setLogLevel(logging.WARNING)
    runs = [run for case in bundled_cases() for run in CHINESE.findall(case.facts)]
    assert len(runs) > 300
    for run in runs:
        assert words(run) == tuple(word for word in jieba.cut(run, HMM=False) if word not in STOP_WORDS)
