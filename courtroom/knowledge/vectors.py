"""Texts as vectors: the default, which needs no model and no network, encoders of this machine, those behind LiteLLM.
It is imported where texts are compared, as numpy takes long to import."""

import asyncio
import hashlib
import json
import logging
import math
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from typing import Any

import mmh3
import numpy as np
from numpy.typing import NDArray

from courtroom.knowledge.embedding import DEFAULT, HASHED, LOCAL, NEEDS_EXTRA, PROCEDURE, Embedding, Library, encoders
from courtroom.models.card import card, load
from courtroom.models.failures import Attempts, Incomplete, again_if_it_may_pass
from courtroom.models.keys import scrubbed
from courtroom.models.request import ModelError
from courtroom.models.route import Connections, route
from courtroom.models.spec import LOCAL as LOCAL_MODEL
from courtroom.models.spec import ModelSpec
from courtroom.store.database import Database, marks
from courtroom.text.words import has_chinese, words

Vectors = NDArray[np.float32]
HalfPrecision = np.ndarray[tuple[int], np.dtype[np.float16]]
log = logging.getLogger(__name__)

DIMENSIONS = 2048
MEANINGS = 256
"""Dimensions of the static vectors."""
SPREAD = 4  # places of one word: two words that share one then differ in the others
UNKNOWN = 6.0
"""Rarity of a word that the table lacks; names, mostly."""
_NO_LETTER = re.compile(r"[^a-z]+")
_LATIN, _LETTER = re.compile(r"[A-Za-z]"), re.compile(r"[A-Za-z\u3400-\u9fff]")


def of_length_1(rows: Any) -> Vectors:
    """Return rows of length 1, so that products are cosines; a row of zeros stays (Eq. 11)."""
    many = np.asarray(rows, np.float32)
    return np.asarray(many / np.maximum(np.linalg.norm(many, axis=1, keepdims=True), 1e-12), np.float32)


class HashedNgrams:
    """Hashed words, Chinese ones weighted by how rare they are, and runs of letters.

    It is lexical: it finds texts that use the same or similarly spelt words, and knows no synonyms. The weights are
    the inverse document frequencies that come with jieba. With fewer dimensions words collide so often that fusing
    with BM25 gains nothing (on 199 real cases: 2,048 gain, 1,024 do not).
    """

    name = f"{HASHED}-2"

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of length 1, shape (texts, 2048); a text without a word is the zero vector."""
        rows = await asyncio.to_thread(lambda: [_hashed(text) for text in texts])
        return np.array(rows, np.float32).reshape(-1, DIMENSIONS)


class WordsAndMeaning:
    """The words of a text as `HashedNgrams` has them and, as far as it is in Latin letters, what they mean: static
    vectors.

    Both weigh the same in an English text. Of Chinese the static vectors know so little that its words alone are
    better.
    """

    name = f"{DEFAULT}-1"

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of length 1, shape (texts, 2304); a text without a word is the zero vector."""
        if not texts:
            return np.zeros((0, DIMENSIONS + MEANINGS), np.float32)
        latin = np.array([len(_LATIN.findall(text)) / max(1, len(_LETTER.findall(text))) for text in texts], np.float32)
        meanings = np.zeros((len(texts), MEANINGS), np.float32)
        if latin.any():  # else a process that looks for a Chinese text would load the vectors for nothing
            meanings = await _static().embed(texts) * latin[:, None]
        return of_length_1(np.hstack([await HashedNgrams().embed(texts), meanings]))


@cache
def _static() -> "LocalEncoder":
    return LocalEncoder("local/wordllama")


@cache
def _rarities() -> dict[bytes, bytes]:
    """How rare each word is. A number is read when it is needed: there are 270,000, and a query has ten words."""
    (folder,) = find_spec("jieba").submodule_search_locations  # type: ignore[union-attr,misc]  # it is not imported
    table = iter(Path(folder, "analyse", "idf.txt").read_bytes().split())  # as text it takes twice as long
    return dict(zip(table, table, strict=True))


@lru_cache(maxsize=4096)
def _hashed(text: str) -> Vectors:
    found, chinese = words(text), has_chinese(text)
    counts = Counter(found)
    if chinese:  # dates, sums and words of procedure stand in every Chinese record and distinguish nothing
        counts = Counter({word: n for word, n in counts.items() if word not in PROCEDURE and not word[0].isdigit()})
    rarity = _rarities() if chinese else {}
    often = np.array([math.log1p(count) for count in counts.values()], np.float32)
    rare = np.array([math.sqrt(float(rarity.get(word.encode(), UNKNOWN))) for word in counts], np.float32)
    by_word = _placed([f"{word}/{n}" for word in counts for n in range(SPREAD)], np.repeat(often * rare, SPREAD))
    spelt = _NO_LETTER.sub(" ", text.lower()).split()
    by_spelling = _placed([run for word in spelt for run in _runs(f" {word} ")])
    share = len(spelt) / max(1, len(found))  # the odd “ATM” in a Chinese text must not weigh as all of it
    damped = np.asarray(np.sign(by_spelling) * np.log1p(np.abs(by_spelling)), np.float32)
    return _unit(_unit(by_word) + 0.5 * min(1.0, share) * _unit(damped))


def _runs(word: str) -> list[str]:
    """Runs of three and, in a longer word, of four letters; white space around the word counts as a letter."""
    lengths = (3, 4) if len(word) > 3 else (3,)
    return [word[start : start + length] for length in lengths for start in range(max(1, len(word) - length + 1))]


def _placed(features: Sequence[str], weights: Any = 1.0) -> Vectors:
    """Return the sum of weights, each at the place, and with the sign, that the hash of its feature gives."""
    hashed = np.array([mmh3.hash(feature) for feature in features], np.int64)
    total = np.zeros(DIMENSIONS, np.float32)
    np.add.at(total, np.abs(hashed) % DIMENSIONS, np.where(hashed < 0, -weights, weights).astype(np.float32))
    return total


def _unit(vector: Any) -> Vectors:
    length = float(np.linalg.norm(vector))
    return np.asarray(vector / length if length else vector, np.float32)


class CachedEmbedding:
    """An embedding whose vectors are stored in the database, in half precision: no text is embedded, or billed, twice.

    Those of `HashedNgrams` and `WordsAndMeaning` are worked out sooner than read: they are only rounded as others are.
    """

    def __init__(self, embedding: Embedding, database: Database) -> None:
        self._embedding, self._database, self.name = embedding, database, embedding.name

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of length 1, shape (texts, dimensions)."""
        if not texts or isinstance(self._embedding, HashedNgrams | WordsAndMeaning):
            return (await self._embedding.embed(texts)).astype(np.float16).astype(np.float32)
        digests = [hashlib.sha256(text.encode()).digest() for text in texts]
        vectors = await asyncio.to_thread(self._read, digests)
        new = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in vectors}
        if new:
            rows = (await self._embedding.embed(list(new.values()))).astype(np.float16)
            await asyncio.to_thread(self._write, list(new), rows)
            vectors.update(zip(new, rows, strict=True))
        if len({vector.size for vector in vectors.values()}) > 1:
            return await self.embed(texts)  # another model has the name now; what was kept of the old one is gone
        return await asyncio.to_thread(lambda: np.stack([vectors[digest] for digest in digests]).astype(np.float32))

    def _read(self, digests: Sequence[bytes]) -> dict[bytes, HalfPrecision]:
        vectors = {}
        for start in range(0, len(digests), 500):
            batch = digests[start : start + 500]
            rows = self._database.execute(
                f"SELECT digest, vector FROM vectors WHERE embedding = ? AND digest IN ({marks(batch)})",
                (self.name, *batch),
            )
            vectors.update({row["digest"]: np.frombuffer(row["vector"], np.float16) for row in rows})
        return vectors

    def _write(self, digests: Sequence[bytes], rows: NDArray[np.float16]) -> None:
        with self._database.transaction() as db:
            kept = db.execute("SELECT vector FROM vectors WHERE embedding = ? LIMIT 1", (self.name,)).fetchone()
            if kept and len(kept["vector"]) != rows[0].nbytes:
                log.warning("%s gives vectors of another size: those of before are made anew", self.name)
                db.execute("DELETE FROM vectors WHERE embedding = ?", (self.name,))
            db.executemany(
                "INSERT INTO vectors VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                [(self.name, digest, vector.tobytes()) for digest, vector in zip(digests, rows, strict=True)],
            )


BATCH = 8
"""Texts in one batch: long ones take much memory."""
MOST_READ = 8192
"""Tokens of a text that an encoder in a folder reads at most, where it says nothing itself."""


Encode = Callable[[list[str]], Any]


class LocalEncoder:
    """An encoder of this machine. A text that is longer than it reads is cut at its end, by its own tokenizer."""

    def __init__(self, name: str) -> None:
        known = encoders().get(name)
        self._chosen, self._known = name, known
        # Another encoder in a folder of the same name has other vectors.
        size = sum(file.stat().st_size for file in Path(known.model).rglob("*")) if known and name not in LOCAL else 0
        self.name = f"{name}-{size}" if size else name
        self._lock = threading.Lock()
        self._encode: Encode | None = None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of length 1, shape (texts, dimensions)."""
        return await asyncio.to_thread(self._embed, list(texts))

    def _embed(self, texts: list[str]) -> Vectors:
        known = self._known
        if known is None:
            raise ModelError(f"There is no encoder {self._chosen} here: the folder of models has no such folder.")
        with self._lock:
            try:
                if self._encode is None:
                    self._encode = _LIBRARIES[known.library](known.model)
                return of_length_1(self._encode(texts))
            except ModuleNotFoundError as error:
                raise ModelError(f"The encoder {self._chosen} can't be loaded. {NEEDS_EXTRA}") from error
            except Exception as error:
                log.warning("%s: %r", self.name, error)
                raise ModelError(
                    f"The encoder {self._chosen} gave no vectors. Check that its model {known.model} is downloaded "
                    "and fits into memory, then try again; the log has the rest."
                ) from error


def by_transformer(model: str) -> Encode:
    """An encoder of sentence-transformers; it reads as many tokens as its model takes."""
    from sentence_transformers import SentenceTransformer

    loaded = SentenceTransformer(model, local_files_only=True)
    return lambda texts: loaded.encode(texts, batch_size=BATCH, show_progress_bar=False)


def by_spacy(model: str) -> Encode:
    """An encoder of spaCy: the mean of its words' vectors."""
    import spacy

    loaded = spacy.load(model)
    return lambda texts: [loaded(text[: loaded.max_length]).vector for text in texts]


def by_onnx(model: str) -> Encode:
    """An encoder in a folder with `model.onnx` and `tokenizer.json`, as Optimum exports one.

    A text's vector is the mean of its tokens', or that of its first or last one where `1_Pooling/config.json` says so.
    """
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

    folder = Path(model)
    session = InferenceSession(folder / "model.onnx", providers=["CPUExecutionProvider"])
    wanted = [one.name for one in session.get_inputs()]
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    longest = _json(folder / "tokenizer_config.json").get("model_max_length", MOST_READ)
    tokenizer.enable_truncation(min(longest, MOST_READ))
    pooling = _json(folder / "1_Pooling" / "config.json")

    def vector(text: str) -> Any:
        read = tokenizer.encode(text)
        given = {"input_ids": read.ids, "attention_mask": read.attention_mask, "token_type_ids": read.type_ids}
        states = session.run(None, {name: np.array([given[name]], np.int64) for name in wanted})[0][0]
        if pooling.get("pooling_mode_cls_token"):
            return states[0]
        return states[-1] if pooling.get("pooling_mode_lasttoken") else states.mean(axis=0)

    return lambda texts: [vector(text) for text in texts]


def _json(path: Path) -> Mapping[str, Any]:
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def by_wordllama(model: str) -> Encode:
    """The mean of the words' vectors, which come with the package."""
    # The package sets up the root logger when it is imported, unless that has a handler.
    logging.getLogger().addHandler(unless_there := logging.NullHandler())
    import wordllama

    logging.getLogger().removeHandler(unless_there)
    there = Path(wordllama.__file__).parent  # where its files are; by itself it looks for one of them elsewhere
    loaded = wordllama.WordLlama.load(model, cache_dir=there, disable_download=True)
    return lambda texts: loaded.embed(texts)


_LIBRARIES: Mapping[Library, Callable[[str], Encode]] = {
    "onnxruntime": by_onnx,
    "spacy": by_spacy,
    "sentence_transformers": by_transformer,
    "wordllama": by_wordllama,
}


AT_ONCE = 100  # texts in one call: providers limit them
NOTHING = "-"
"""Is sent for a text without a word: providers refuse an empty one."""
LONGEST = 8_000
"""Tokens of a text that are sent to a model whose card does not say how many it takes."""
ASCII, OTHER = 1 / 3, 3 / 2
"""Tokens of one character, at most in ordinary text: no tokenizer of a remote model is at hand to count them."""


class LiteLLMEmbedding:
    """Any embedding model that LiteLLM can reach. A text that is longer than the model takes is cut at its end."""

    def __init__(self, model: str) -> None:
        self.name = model

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of length 1, shape (texts, dimensions)."""
        limit = await asyncio.to_thread(longest, self.name)
        texts = [beginning(text, limit) if text.strip() else NOTHING for text in texts]
        vectors = []
        for start in range(0, len(texts), AT_ONCE):
            asked = partial(self._ask, texts[start : start + AT_ONCE])
            try:
                vectors.append(await Attempts(ModelSpec(id=self.name)).made(asked, again_if_it_may_pass))
            except Exception as error:  # noqa: BLE001  clients raise what they like; a user is shown one sentence
                log.warning("%s: %s", self.name, scrubbed(repr(error)))
                raise ModelError(
                    f"The embedding model {self.name} gave no vectors. "
                    "Check its id, its key and its server, then try again."
                ) from None  # the cause may hold a key, and a log would print it
        return np.concatenate(vectors)

    async def _ask(self, texts: list[str]) -> Vectors:
        litellm = await asyncio.to_thread(load)
        # It works for all runs, so that no key which was typed for one of them counts.
        where = route(ModelSpec(id=self.name), Connections(), typed=False).parameters()
        reply = await litellm.aembedding(**where, input=texts, num_retries=0, max_retries=0, timeout=60)
        vectors = np.array([item["embedding"] for item in reply.data], np.float32)
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise Incomplete(f"{len(texts)} texts were sent, vectors of shape {vectors.shape} came back")
        return of_length_1(vectors)


def longest(model: str) -> int:
    """How many tokens of a text a model takes, by its card in LiteLLM. Imports LiteLLM: call it in a thread."""
    known = card(model) or {}
    return int(known.get("max_input_tokens") or known.get("max_tokens") or LONGEST)


def beginning(text: str, tokens: int) -> str:
    """Return the beginning of a text that has at most so many tokens: one is 3 ASCII characters, or 2/3 of another."""
    if len(text) * OTHER <= tokens:
        return text
    spent = accumulate(ASCII if character < "\x80" else OTHER for character in text)
    return text[: sum(so_far <= tokens for so_far in spent)]


def embedding_of(name: str) -> Embedding:
    """Return the embedding of a name: the default, words alone, a local encoder, or a LiteLLM model id."""
    if name in (DEFAULT, HASHED):
        return WordsAndMeaning() if name == DEFAULT else HashedNgrams()
    return LocalEncoder(name) if name.startswith(LOCAL_MODEL) else LiteLLMEmbedding(name)
