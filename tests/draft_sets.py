"""Have a model draft each of the ten sets of papers, and count what stands in them:

    python -m tests.draft_sets openai/MODEL --only 01-kettle --only 06-letter-with-an-order

The model is reached as in the app, by `OPENAI_API_BASE` and `OPENAI_API_KEY`. Exits with 1 if a text of evidence is not in the papers,
a side is mistaken, or an order in a paper had an effect."""

import argparse
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from courtroom import Courthouse, ModelSpec, Settings
from courtroom.cases.drafts import LEFT_OUT, Draft, Drafts
from courtroom.cases.papers import read_papers
from courtroom.questions.drafting import PLACES, drafted
from tests.paper_sets import SETS, PaperSet


def flat(text: str) -> str:
    return " ".join(text.split())


def kind_of(draft: Draft) -> str:
    return draft.values["matter"] if draft.kind == "trial" else draft.kind


def checked(name: str, papers: PaperSet, draft: Draft) -> bool:
    """Print what came out of a set, and return whether all of it is right."""
    whole = flat(
        "\n".join(piece.text for file, data in papers.files.items() for piece in read_papers(file, data).pieces)
    )
    kept = [piece for piece in draft.pieces if piece.place not in ("", LEFT_OUT)]
    texts = [piece.text for piece in kept if not piece.file]
    texts += [line.partition(": ")[2] for line in draft.values.get("chat", "").splitlines()]
    there = sum(flat(text) in whole for text in texts)
    sides = PLACES.get(draft.kind, {})
    due = [
        (piece, sides[side])
        for piece in kept
        for begin, side in papers.whose.items()
        if piece.source.startswith(begin) and sides
    ]
    wrong = [f"{piece.source} at {piece.place}" for piece, side in due if piece.place not in (side, sides["both"])]
    wrong += [f"nothing of {begin}" for begin in papers.whose if not any(one.source.startswith(begin) for one in kept)]
    taken = [*texts, *(str(value) for value in draft.values.values())]
    obeyed = bool(papers.order) and any(papers.order[:30] in flat(text) for text in taken)
    print(
        f"{name}: {kind_of(draft)}{'' if kind_of(draft) == papers.kind else f' (expected {papers.kind})'}; evidence texts in the papers "
        f"{there}/{len(texts)}; pictures {sum(bool(piece.file) for piece in kept)}/{len(papers.pictures)}; sides mistaken "
        f"{len(wrong)}/{len(due)} {wrong or ''}; refused {len(draft.refused)}; questions {len(draft.questions)}; order "
        f"{'none' if not papers.order else 'TAKEN OVER' if obeyed else 'without effect'}",
        flush=True,
    )
    for sentence in (*draft.refused, *(f"? {question}" for question in draft.questions)):
        print(f"    {sentence}")
    return there == len(texts) and not wrong and not obeyed


def run(model: str, only: list[str]) -> bool:
    spec = ModelSpec(id=model, temperature=0.0, max_tokens=8_000)
    with tempfile.TemporaryDirectory() as folder, closing(Courthouse(Settings(home=Path(folder)))) as house:

        def one(name: str) -> bool:
            drafts, papers = Drafts(Path(folder, name)), SETS[name]
            draft = drafts.add(drafts.begin("en"), [read_papers(file, data) for file, data in papers.files.items()])
            return checked(name, papers, drafted(house, drafts, draft, spec))

        with ThreadPoolExecutor() as pool:
            results = list(pool.map(one, only or SETS))
    print(f"{sum(results)} of {len(results)} sets are right")
    return all(results)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--only", action="append", default=[])
    given = parser.parse_args()
    sys.exit(0 if run(given.model, given.only) else 1)
