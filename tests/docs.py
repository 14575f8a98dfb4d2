"""The Markdown of the project, and the commands that stand in it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md")), ROOT / "data" / "README.md")
PAPERS = sorted((ROOT / "docs" / "papers").glob("*.md"))
"""Tables of what each paper says, in which a row names the test that would notice."""
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]+)`")
COMMAND = re.compile(r"(?:[A-Z_]+=\S+ )*(?:python -m |courtroom |streamlit |pip |docker |uv )\S.*")
"""What of the code within sentences is a command."""
LINK = re.compile(r"(?<!\\)\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Command:
    """One command, and where it stands."""

    page: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.text}"


def commands() -> Iterator[Command]:
    """Every command in a block of `sh` or `bash`, and every one within a sentence."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        name = str(page.relative_to(ROOT))
        for block in FENCE.finditer(text):
            if block[1] in ("sh", "bash"):
                first = text.count("\n", 0, block.start(2)) + 1
                for number, line in enumerate(block[2].splitlines()):
                    told = re.sub(r"\s+# .*$", "", line).strip()
                    if told and not told.startswith("#"):
                        yield Command(name, first + number, told)
        bare = FENCE.sub(lambda block: "\n" * block[0].count("\n"), text)
        for code in INLINE.finditer(bare):
            if COMMAND.fullmatch(code[1]):
                yield Command(name, bare.count("\n", 0, code.start()) + 1, code[1])


def blocks(page: str, language: str) -> list[str]:
    """The blocks of a language on a page."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [block[2] for block in FENCE.finditer(text) if block[1] == language]


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives a page's headings, of which no two are the same."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    plain = (LINK.sub(lambda link: link[0][1:].partition("]")[0], heading).lower() for heading in headings)
    return {re.sub(r"[^\w\- ]", "", heading).strip().replace(" ", "-") for heading in plain}


def links(page: Path) -> Iterator[str]:
    """Where a page's links and pictures lead."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    yield from LINK.findall(INLINE.sub(lambda code: "x" * len(code[0]) if "](" in code[0] else code[0], text))
