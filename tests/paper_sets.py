"""Ten sets of papers as people bring them, with contradictions, and in three of them an order to the model that reads them."""

import tomllib
from dataclasses import dataclass, field
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from tests.docs import ROOT
from tests.papers import mail, sheets, word, zipped
from tests.pictures import saved
from tests.test_pdf import lines, pdf


@dataclass(frozen=True)
class PaperSet:
    """What somebody brings, and what has to come out."""

    kind: str
    """What the papers are: a dispute, a criminal or a civil trial, a question."""
    files: dict[str, bytes]
    texts: dict[str, list[str]]
    """By the source of a piece, sentences that it holds, word for word."""
    pictures: list[str] = field(default_factory=list)
    """The sources of the pieces that are pictures."""


def screen(*said: list[str]) -> bytes:
    """A screenshot of a chat: who says what, one below the other."""
    image = Image.new("RGB", (720, 120 + 110 * len(said)), "white")
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(size=24)
    for number, (who, text) in enumerate(said):
        left = 20 if number % 2 == 0 else 180
        draw.rounded_rectangle((left, 40 + 110 * number, left + 520, 130 + 110 * number), 16, "#e8f0e4", "#557755")
        draw.multiline_text((left + 16, 48 + 110 * number), f"{who}\n{text}", "black", font, spacing=8)
    return saved(image)


def scanned(*pages: str) -> bytes:
    """A PDF without any text: each page a picture of these lines."""
    drawn, font = [], ImageFont.load_default(size=26)
    for page in pages:
        image = Image.new("L", (900, 1200), 250)
        ImageDraw.Draw(image).multiline_text((70, 90), page.replace("\n", "\n\n"), 20, font, spacing=12)
        drawn.append(image)
    return saved(drawn[0], "PDF", save_all=True, append_images=drawn[1:])


def made(paper: dict[str, Any]) -> bytes:
    """A file, by what stands in it."""
    match paper:
        case {"word": paragraphs}:
            return word(*paragraphs)
        case {"sheets": rows}:
            return sheets(**rows)
        case {"screen": said}:
            return screen(*said)
        case {"scanned": pages}:
            return scanned(*pages)
        case {"pdf": texts}:
            return pdf(lines(*texts))
        case {"mail": text}:
            return mail(text, **{name: made(one) for name, one in paper.get("attached", {}).items()})
        case {"zip": files}:
            return zipped({name: made(one) for name, one in files.items()})
    return str(paper["text"]).encode(paper.get("encoding", "utf-8"))


KEPT = tomllib.loads((ROOT / "tests" / "inputs" / "paper_sets.toml").read_text(encoding="utf-8"))
SETS: dict[str, PaperSet] = {
    name: PaperSet(**{**one, "files": {file: made(paper) for file, paper in one["files"].items()}})
    for name, one in KEPT.items()
}
"""By name."""
