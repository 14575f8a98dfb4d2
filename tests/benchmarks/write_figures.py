"""Writes `docs/figures.md`: `COURTROOM_REAL_DATA=FOLDER python -m tests.benchmarks.write_figures`.

With `--tiny` it prints a page of one row a table, and writes nothing. All figures that the documentation gives of the
offline model are in that file, and come from `measure_judgment`, `measure_texts` and `measure_votes`; those of what
tables claim come from `bench_claims`.
"""

from pathlib import Path

from courtroom.courthouse import Courthouse
from tests.benchmarks import (
    bench_claims,
    fit_votes,
    measure_embeddings,
    measure_judgment,
    measure_texts,
    measure_voices,
    measure_votes,
)
from tests.benchmarks.tables import needed_data, new_house, options

PAGE = Path(__file__).parents[2] / "docs" / "figures.md"
TEXT = Path(__file__).with_name("figures.txt")
"""The page, with the names of the programs in place of their tables."""


def text(house: Courthouse, tiny: bool = False) -> str:
    tables = {
        "measure_judgment": measure_judgment.tables(house),
        "measure_texts": measure_texts.tables(house),
        "bench_claims": bench_claims.tables(),
        "measure_votes": measure_votes.tables(house),
        "fit_votes": fit_votes.tables(house),
        "measure_voices": measure_voices.tables(),
        "measure_embeddings": measure_embeddings.tables(),
    }
    printed = {name: "\n".join(line for one in made for line in one.lines(tiny)) for name, made in tables.items()}
    return TEXT.read_text(encoding="utf-8").format(**printed).rstrip() + "\n"


def main() -> None:
    tiny = options().tiny
    if not tiny:
        needed_data()
    with new_house() as house:
        page = text(house, tiny)
    if tiny:
        print(page)
    else:
        PAGE.write_text(page, encoding="utf-8")
        print(PAGE)


if __name__ == "__main__":
    main()
