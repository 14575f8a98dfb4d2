"""Where a server does not count tokens, each sum that holds its calls says that it is about so much; elsewhere none does."""

import json
from pathlib import Path

import pytest

from courtroom.access import Access, acts
from courtroom.cases.labelled import Labelled, LabelledTask
from courtroom.datasets import Row
from courtroom.experiments.bundle import facts_of
from courtroom.experiments.spec import parsed
from courtroom.experiments.written import markdown, rendered
from courtroom.models.request import Reply, Request, Watch
from courtroom.questions.audit import auditable
from tests.driving import answered_by, done, shell
from tests.pages import texts
from tests.scripted_jury import Jury, hear
from tests.signing_in import closed_house, person, visit


class PricedJury(Jury):
    """A jury whose calls have a price; `is_told`: its server counts the tokens."""

    def __init__(self, *, is_told: bool) -> None:
        super().__init__()
        self.is_told = is_told
        first = iter(("seller", "buyer") * 2)
        self.votes = lambda request: next(first, "buyer")

    async def answer(self, request: Request, watch: Watch | None = None) -> Reply:
        reply = await super().answer(request, watch)
        usage = reply.usage.model_copy(update={"prompt": 1_200, "estimated": not self.is_told})
        return reply.model_copy(update={"usage": usage, "cost": 0.02})


def labelled(name: str, label: str) -> Row:
    item = Labelled(id=name, text=f"I am {label}.", label=label)
    case = LabelledTask(id=name, title=name, items=(item,), labels=("sad", "glad"), question="How is the writer?")
    return Row(id=name, case=case, category="", split="test")


@pytest.mark.parametrize("is_told", [True, False])
def test_a_sum_with_an_estimated_price_says_about(
    is_told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closed_house(tmp_path, monkeypatch) as house:
        ada = person(house, "ada", Access.OWN)
        house.accounts.allow(ada.id, 5.0)
        answered_by(house, PricedJury(is_told=is_told))
        single = {"structure": "single", "judges": 1, "shots": 0, "explain": False}
        arm = {"name": "judge", "procedure": "courtroom-llm", "model": "scripted", "set": single}
        house.datasets.add("moods", [labelled("a", "sad"), labelled("b", "glad")])
        with acts(ada):
            found = done(house, parsed({"name": "moods", "dataset": {"name": "moods"}, "arms": [arm]}, "here"))
        month = texts(visit("ada", "people"))
        table = markdown(found.table)
        items = rendered("checklist.md.j2", facts=facts_of(found, house))
        status = shell("experiment", "status", found.kept.id)
        run = hear(house, rounds=2, consensus=1.0)
        (changed, *_) = auditable(house.procedures["cyberjurors"], run)
        house.audits.start(house.audits.plan(run, [changed.call.path], 1)).result(60)
        only = ("--member", changed.vote.member, "--seeds", "1")
        audited = json.loads(shell("audit", run.run.id, *only, "--json"))
    for text, total in (
        (month, "US$ 0.04 this month"),
        (table, "1,201 |"),
        (table, "0.02 |"),
        (status, "2402 tokens"),
        (status, "US$ 0.04"),
        (items, "2,402 tokens"),
    ):
        assert total in text
        assert (f"about {total}" in text) != is_told, total
    assert audited["cost"].get("estimated", False) != is_told
