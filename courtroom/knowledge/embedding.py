"""Which embeddings there are: how each is named, what it compares, and why one can't be chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, Literal, Protocol

from courtroom.models.local import models_folder
from courtroom.models.spec import LOCAL as LOCAL_MODEL
from courtroom.models.spec import NO_SERVER, ModelSpec

if TYPE_CHECKING:
    from courtroom.knowledge.vectors import Vectors

DEFAULT = "words-and-meaning"
HASHED = "hashed-ngrams"
_PROCEDURE = """
被告人 被害人 人民检察院 检察院 检察机关 指控 公诉机关 公诉 公诉人 机关 证人 证言 供述 辩解 证据 事实
犯罪 追究 刑事责任 本院 行为 触犯 中华人民共和国 刑法 规定 提请 依法 判处 某某 某 许 年 月 日 分
公安局 派出所 书证 物证 现场 勘查 笔录 照片 户籍 证明 经过 抓获 到案 认为 构成 应当 县 市 区 镇 村
路 号 人民币 元 当日 上述 经 审理 查明 审理查明 其 一 二 三 名 情况 说明 身份 信息 归案 案发 供认
陈述 辨认 当庭 涉嫌 诉 称 案件 材料 予以 一案 作案 先后
"""
PROCEDURE = frozenset(_PROCEDURE.split())
"""Words that nearly every record of a Chinese criminal case holds."""


class Embedding(Protocol):
    """Turns texts into vectors."""

    @property
    def name(self) -> str:
        """Names model and version: vectors of another name can't be compared."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of length 1, shape (texts, dimensions)."""


Library = Literal["onnxruntime", "sentence_transformers", "spacy", "wordllama"]


@dataclass(frozen=True)
class Encoder:
    """One encoder that can be chosen."""

    library: Library
    model: str
    """As its library names it; a path for one that stands in a folder."""
    of: str


SBERT: Final = "sentence_transformers"
LOCAL: Mapping[str, Encoder] = {
    "local/longformer": Encoder(SBERT, "allenai/longformer-base-4096", "CyberJurors' encoder; reads 4,096 tokens"),
    "local/qwen3-embedding-8b": Encoder(
        SBERT, "Qwen/Qwen3-Embedding-8B", "VERDICT's encoder; needs a GPU; reads 32,768 tokens"
    ),
    "local/qwen3-embedding-0.6b": Encoder(
        SBERT, "Qwen/Qwen3-Embedding-0.6B", "the small one of VERDICT's family; reads 32,768 tokens"
    ),
    "local/en-core-web-sm": Encoder("spacy", "en_core_web_sm", "Courtroom-LLM's encoder; English; reads whole texts"),
    "local/wordllama": Encoder(
        "wordllama", "l2_supercat", "English words by their meaning, with no download; reads whole texts"
    ),
}
"""Those that have a name of their own."""
FOLDERS: Mapping[str, Library] = {
    "model.onnx": "onnxruntime",
    "modules.json": "sentence_transformers",
    "meta.json": "spacy",
}
"""By which file a folder with an encoder is known, and what reads it; the first counts that is there."""


def encoders() -> Mapping[str, Encoder]:
    """Return all encoders of this machine by the name under which they are chosen.

    They are those with a name of their own, and `local/FOLDER` for each folder with an encoder in the folder of
    models. A folder stands for the encoder of its name.
    """
    found = {
        f"{LOCAL_MODEL}{path.parent.name}": Encoder(library, str(path.parent), "an encoder in a folder of this machine")
        for file, library in reversed(list(FOLDERS.items()))
        for path in models_folder().glob(f"*/{file}")
    }
    return {**LOCAL, **found}


def installed(name: str) -> bool:
    """Whether the library of a local encoder is there; nothing is loaded for that."""
    return find_spec(encoders()[name].library) is not None


NEEDS_EXTRA = "It needs the extra `embeddings`: pip install 'courtroom[embeddings]'."
REMOTE = (
    "openai/text-embedding-3-small",
    "openai/text-embedding-3-large",
    "gemini/gemini-embedding-001",
    "mistral/mistral-embed",
    "ollama/nomic-embed-text",
)
"""LiteLLM ids that pages offer; any other can be written."""
BY_WORDS = (
    "Texts are compared by their words, not by their meaning: two texts that say the same in other words, or in "
    "another language, count as unlike."
)
"""What it means where something is selected by words alone."""
BY_DEFAULT = (
    "English texts are compared by their words and by what these mean, Chinese ones by their words alone: two Chinese "
    "texts that say the same in other words, and two texts in two languages, count as unlike. Choose an embedding "
    "model where that matters."
)
"""What it means where something is selected by the default embedding."""


def embedding_problem(name: str) -> str:
    """Why this can't be chosen, in words that fit into a sentence; empty where it can."""
    if name in ("", DEFAULT, HASHED) or name in (there := encoders()):
        return ""
    if name.startswith(LOCAL_MODEL):
        return f"the local encoders are {', '.join(there)}"
    if name in NO_SERVER:
        return f"“{name}” is no embedding; the one that needs no model is `{DEFAULT}`"
    return ModelSpec.model_construct(id=name).problem()


def about_embedding(name: str) -> str:
    """What a person should know of an embedding, in sentences."""
    if name in (DEFAULT, HASHED):
        return BY_DEFAULT if name == DEFAULT else BY_WORDS
    if known := encoders().get(name):
        return f"{name} runs on this machine: {known.of}. What is longer is cut at its end."
    return (
        f"{name} is asked through LiteLLM, with the key that is set on the server. A text that is longer than the "
        "model takes is cut at its end, at 3 ASCII characters a token, or 2 other characters for 3 tokens."
    )
