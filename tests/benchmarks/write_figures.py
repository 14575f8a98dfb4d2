"""Writes `docs/figures.md`: `COURTROOM_REAL_DATA=FOLDER python -m tests.benchmarks.write_figures`.

With `--tiny` it prints a page of one row a table, and writes nothing. All figures that the documentation gives of the offline model are in that file, and come from `measure_judgment` and `measure_texts`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from courtroom.courthouse import Courthouse
from tests.benchmarks import measure_judgment, measure_texts
from tests.benchmarks.tables import Table, new_house, real_data, tiny_asked

PAGE = Path(__file__).parents[2] / "docs" / "figures.md"
ABOUT = """# How good the offline model is

The offline model is no language model: it counts words and weighs rules. These figures say what that can do, and a language
model should do better. This page is written by `COURTROOM_REAL_DATA=FOLDER python -m tests.benchmarks.write_figures`; do not edit it.
FOLDER holds the public records: `cail_like.jsonl` and `classification/`. The offline model is deterministic, so the same
records give the same figures everywhere.
"""
JUDGMENT = """## Articles and charges

`python -m tests.benchmarks.measure_judgment` prints these tables; with `COURTROOM_REAL_DATA=FOLDER` also the public records. hit@5 is
the share of cases with a known article (or charge) among the first five that were named. The look-ups go through the bundled,
unofficial digest. Chinese is searched by the words that jieba finds together with pairs of neighbouring characters.
"""
TEXTS = """## Summaries and labels

`python -m tests.benchmarks.measure_texts` prints these tables; with `COURTROOM_REAL_DATA=FOLDER` also the public sets. ROUGE is F1. lead-3 is
the first three sentences of the document, lead-N as many as the summary of JURIS has. The sample tasks were written to be
hard to tell by words.
"""


def text(house: Courthouse, tiny: bool = False) -> str:
    """The page."""
    parts = [
        ABOUT,
        JUDGMENT,
        written(measure_judgment.tables(house), tiny),
        TEXTS,
        written(measure_texts.tables(house), tiny),
    ]
    return "\n".join(parts).rstrip() + "\n"


def written(tables: Iterable[Table], tiny: bool) -> str:
    """Tables as Markdown."""
    return "\n".join(line for table in tables for line in table.lines(tiny))


def main() -> None:
    """Write the page."""
    tiny = tiny_asked()
    if real_data() is None and not tiny:
        sys.exit("Set COURTROOM_REAL_DATA to the folder with the public records.")
    with new_house() as house:
        page = text(house, tiny)
    if tiny:
        print(page)
    else:
        PAGE.write_text(page, encoding="utf-8")
        print(PAGE)


if __name__ == "__main__":
    main()
