"""A case of each kind, as tests of any procedure need one."""

import json
from collections.abc import Callable

from courtroom import Case, Courthouse
from courtroom.cases.criminal import CriminalCase, DraftBatch, FirstDraft
from courtroom.cases.dispute import PrecedentBatch
from courtroom.cases.drafts import asked_with
from courtroom.cases.files import read_upload
from courtroom.settings import DATA


def precedents(house: Courthouse) -> Case:
    chosen = tuple(house.knowledge.of("precedents").all()[:3])
    return PrecedentBatch(id="precedents", title="Three precedents", precedents=chosen)


def drafts(house: Courthouse, language: str = "en") -> Case:
    """One wrong first draft and one right one, of cases in one language."""
    statutes = tuple(house.knowledge.of("statutes").all(0, 5))
    cases = (one for one in house.library.cases() if isinstance(one, CriminalCase))
    first, second, *_ = (case for case in cases if case.language == language)
    made = []
    for case, article in ((first, statutes[0].number), (second, second.gold.relevant_articles[0])):
        about = {"run": f"run-{len(made)}", "key": f"key-{len(made)}", "case": case, "points": ("A point.",)}
        said = {"predicted_article": article, "explanation": "The facts meet it."}
        made.append(FirstDraft.model_validate({**about, "statutes": statutes, **said}))
    return DraftBatch(id="drafts", title="Two first drafts", drafts=tuple(made))


def question(house: Courthouse) -> Case:
    return asked_with("Should the town close the old bridge to cars?", ("Yes", "No", "A pilot of six months")).case


MADE: dict[str, Callable[[Courthouse], Case]] = {"precedents": precedents, "drafts": drafts, "question": question}
"""Cases of the kinds of which no sample is bundled, as the app makes them from what it holds."""


def sample(house: Courthouse, kind: str) -> Case:
    """A case of a kind: one of the library, else one made here, else a file of the bundled data."""
    for case in house.library.cases():
        if case.kind == kind:
            return case
    if kind in MADE:
        return MADE[kind](house)
    for path in sorted(DATA.rglob("*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(data, dict) and data.get("kind") == kind:
            (package,) = read_upload(path.name, path)
            return house.library.add(package)
    raise AssertionError(f"no sample of kind {kind!r}: add one to data/, or a way to make one here")
