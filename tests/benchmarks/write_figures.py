"""Writes `docs/figures.md`: `COURTROOM_REAL_DATA=FOLDER python -m tests.benchmarks.write_figures`.

With `--tiny` it prints a page of one row a table, and writes nothing. All figures that the documentation gives of the offline model are in that file, and come from
`measure_judgment`, `measure_texts` and `measure_votes`; those of what tables claim come from `bench_claims`.
"""

from collections.abc import Iterable
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
from tests.benchmarks.tables import Table, needed_data, new_house, options

PAGE = Path(__file__).parents[2] / "docs" / "figures.md"
ABOUT = """# How good the offline model is, and what tables claim

The offline model is no language model: it counts words and weighs rules. These figures say what that can do, and a language
model should do better. This page is written by `COURTROOM_REAL_DATA=FOLDER python -m tests.benchmarks.write_figures`; do not edit it.
FOLDER holds the public records: `cail_like.jsonl` and `classification/`. The offline model is deterministic, so the same
records give the same figures everywhere.
"""
JUDGMENT = """## Articles and charges

`python -m tests.benchmarks.measure_judgment` prints these tables; with `COURTROOM_REAL_DATA=FOLDER` also the public records. hit@5 is
the share of cases with a known article (or charge) among the first five that were named. The look-ups go through the bundled,
unofficial digest. Chinese is searched by the words that jieba finds together with pairs of neighbouring characters.
The weights of the two rankings were chosen on the public cases. So one row gives each half of these cases the weights that find most in the other half,
of four that were tried; JurisAgents looks up by BM25 at 1 and the dense ranking at 0.5 by default.
"""
TEXTS = """## Summaries and labels

`python -m tests.benchmarks.measure_texts` prints these tables; with `COURTROOM_REAL_DATA=FOLDER` also the public sets. ROUGE is F1. lead-3 is
the first three sentences of the document, lead-N as many as the summary of JURIS has. The sample tasks were written to be
hard to tell by words, but for `question-answered`.
"""
CLAIMS = """## What tables claim

`python -m tests.benchmarks.bench_claims` prints these tables. Experiments are made up, and go through the same tests and intervals as any other; no model
is asked. *Right or wrong* is right on 70 % of the cases; *three repeats* likewise, and some cases are easier for some arms; *skewed* values are
exponential, *squared errors* those of a normal error; *macro F1* is of two labels, 70 or 80 % of them right. Each figure of two arms, or of one, is of 1,000 experiments (from 50 cases on)
to 2,000 (up to 25 cases): it is off by up to 1 to 1.4 points by chance. Those of 8 arms are of 150 to 500: off by up to 2 to 4 points; those of 24 arms of 30 to 100: off by up to 4 to 8 points. A claim that is made in 5 % of the
experiments without a difference is what a 95 % test allows. Where there is a dash, there is no interval.
"""

VOTES = """## Votes

`python -m tests.benchmarks.measure_votes` prints this table. All votes are invented, so this is no measure against people. The jury's formulas were
tuned on the training disputes and the samples, so look at the held-out disputes, which were written before and which no tuning has read. The error is the
mean, in votes of 17, by which the buyer's count is off. The held-out disputes were looked at once after the tuning; a version before it, tuned on the
samples alone, was off by 4.5 votes there and right in 5. With n = 12 the share of right majorities is known to between 52 and 98 %, so the offline jury
shows how a hearing goes, and decides nothing. `python -m tests.benchmarks.fit_votes` prints the second table: the reading alone, without jurors,
cross-validated over all disputes that tuning may read.
"""
VOICES = """## Effective votes

`python -m tests.benchmarks.measure_voices` prints this table: 400 made-up panels of a known correlation each, off by 1 to 2 points by chance. *Copies one*: jurors copy one and the
same juror now and then; *clear to a degree*: how clear a case is comes of a beta distribution; *an error of their own*: all see the same, each with a normal error. 65 % of the votes are
for one side. An interval should hold the truth in 95 %; this one is wider than it has to be, rather than too narrow.
"""

EMBEDDINGS = """## Embeddings

`python -m tests.benchmarks.measure_embeddings` prints this table, with a row for each embedding that is installed (`pip install wordllama`). A right text must be
the nearest, or among the five nearest norms or statutes. Paraphrases share no word that carries meaning; norms are those of the precedent itself; a persona's
norm is right where it belongs to the persona's trade. The pairs and trades are invented. In brackets: how many texts are asked for.
The default, `hashed-ngrams`, is good where words are shared, in Chinese too; `local/wordllama` where English texts say the same in other words.
Neither finds the text of one language by that of another.
"""


def text(house: Courthouse, tiny: bool = False) -> str:
    parts: list[str | Iterable[Table]] = [
        *(ABOUT, JUDGMENT, measure_judgment.tables(house), TEXTS, measure_texts.tables(house)),
        *(CLAIMS, bench_claims.tables(), VOTES, measure_votes.tables(house), fit_votes.tables(house)),
        *(VOICES, measure_voices.tables(), EMBEDDINGS, measure_embeddings.tables()),
    ]
    lines = (
        part if isinstance(part, str) else "\n".join(line for table in part for line in table.lines(tiny))
        for part in parts
    )
    return "\n".join(lines).rstrip() + "\n"


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
