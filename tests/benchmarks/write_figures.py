"""Writes `docs/figures.md`: `COURTROOM_REAL_DATA=FOLDER python -m tests.benchmarks.write_figures`.

All figures that the documentation gives of the offline model, and of what tables claim, are in that file.
"""

from importlib import import_module
from pathlib import Path

from tests.benchmarks.tables import needed_data, new_house, printed

PAGE = Path(__file__).parents[2] / "docs" / "figures.md"
TEXT = Path(__file__).with_name("figures.txt")
"""The page, with the names of the programs in place of their tables."""
ALL = ("bench_claims", *(f"measure_{what}" for what in ("embeddings", "judgment", "texts", "voices", "votes")))


def main() -> None:
    needed_data()
    with new_house() as house:
        tables = {name: import_module(f"tests.benchmarks.{name}").tables for name in ALL}
        told = {name: "\n".join(printed(made, house)) for name, made in tables.items()}
    PAGE.write_text(TEXT.read_text(encoding="utf-8").format(**told).rstrip() + "\n", encoding="utf-8")
    print(PAGE)


if __name__ == "__main__":
    main()
