"""JurisAgents: six stages, two instances, the ablations and the extension tasks, with a scripted and the offline model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from courtroom.cases.criminal import CriminalCase, Gold
from courtroom.courthouse import Courthouse
from courtroom.engine.events import Seated
from courtroom.engine.record import Record
from courtroom.knowledge.search import Search
from courtroom.media.medium import Medium
from courtroom.models.request import Request
from courtroom.models.spec import ModelSpec
from courtroom.procedures import PROCEDURES
from courtroom.procedures.jurisagents.setup import JurisAgentsSetup
from courtroom.settings import Settings
from tests.toy import Scripted

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning")

CASE = CriminalCase(
    id="phone",
    title="A telephone in a café",
    facts="On 3 May 2023 the defendant, Mr Duan, took a telephone worth 2,600 yuan from a café table and fled. He confessed.",
    defendants=("Mr Duan",),
    gold=Gold(relevant_articles=(264,), charges=("theft",), term_of_imprisonment={"imprisonment": 7}),  # type: ignore[arg-type]
)
FIRST = {"relevant_articles": [264], "charge": ["theft"], "term_of_imprisonment": {"imprisonment": 12}}
FINAL = {"relevant_articles": [264], "charge": ["theft"], "term_of_imprisonment": {"imprisonment": 8}}


class Court(Scripted):
    """Each role answers as told; the defendant may object."""

    def __init__(self, *, objects: bool = True, first: object = None) -> None:
        self.objects, self.first = objects, first or FIRST
        super().__init__(reply=self.said)

    def said(self, request: Request) -> str:
        second = "appeal petition" in text_of(request).casefold() and request.task.name != "petition"
        answers: dict[str, object] = {
            "extract": {"defendant": "Mr Duan", "acts": [{"act": "Took a telephone.", "intent": "intent"}]},
            "summarise": {"summary": "A telephone was taken." + (" He confessed." if second else "")},
            "decide": FINAL if second else self.first,
            "decide-alone": self.first,
            "respond": {"accepts": not self.objects, "objection": "Too long." if self.objects else ""},
            "petition": {
                "appellant": "Mr Duan", "request": "A shorter term.", "facts_and_reasons": "He confessed.",
                "legal_basis": "Article 264.", "conclusion": "Please change it.",
            },
            "choose": {"choice": "C", "reason": "It says so."},
            "add-up": {"amount": 8500, "parts": [1500, 7000]},
        }  # fmt: skip
        return json.dumps(answers[request.task.name])


def text_of(request: Request) -> str:
    return "\n".join(part for message in request.messages for part in message.parts if isinstance(part, str))


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Courthouse]:
    house = Courthouse(Settings(home=tmp_path))
    yield house
    house.close()


def hear(house: Courthouse, model: Scripted, case: CriminalCase = CASE, **knobs: object) -> Record:
    house.pool = model  # type: ignore[assignment, misc]
    model.warm = lambda: _nothing()  # type: ignore[attr-defined]
    setup = JurisAgentsSetup.model_validate({"model": ModelSpec(id="scripted"), **knobs})
    run = house.new_run("jurisagents", case, setup, 0)
    house.runner.go(run)
    house.runner.wait(run, 60)
    return house.record(run)


async def _nothing() -> None:
    return None


def stages(record: Record) -> list[str]:
    return [stage.name for stage in record.stages]


def test_an_objection_leads_to_a_second_instance_whose_judgment_is_final(house: Courthouse) -> None:
    record = hear(house, Court())
    assert stages(record) == [
        "Information extraction", "Retrieval", "Decision", "Objection", "Appeal", "Second instance",
    ]  # fmt: skip
    assert [call.task for call in record.calls] == [
        "extract", "summarise", "decide", "respond", "petition", "extract", "summarise", "decide",
    ]  # fmt: skip
    verdict = record.run.verdict
    assert verdict is not None
    assert verdict.details["judgment"]["term_of_imprisonment"]["imprisonment"] == 8
    assert verdict.details["first_instance"]["term_of_imprisonment"]["imprisonment"] == 12
    assert verdict.note == "The second instance changed the judgment."


def test_an_accepted_judgment_ends_the_case(house: Courthouse) -> None:
    record = hear(house, Court(objects=False))
    assert stages(record)[-1] == "Objection"
    assert record.run.verdict is not None
    assert record.run.verdict.note.startswith("The defendant accepted")


def test_the_assistant_looks_up_ten_statutes_and_charges_dense_and_five_precedents_hybrid(house: Courthouse) -> None:
    record = hear(house, Court())
    queries = {
        r.query.collection: (r.query.mode, len(r.hits)) for r in record.retrievals if isinstance(r.query, Search)
    }
    assert queries["statutes"] == ("dense", 10)
    assert queries["charges"] == ("dense", 10)
    assert queries["cases"][0] == "hybrid"
    assert all(
        query.query.text == "A telephone was taken." for query in record.retrievals if isinstance(query.query, Search)
    )


def test_each_role_sees_what_the_paper_gives_it(house: Courthouse) -> None:
    model = Court()
    hear(house, model)
    seen = [(request.task.name, text_of(request)) for request in model.history]
    facts = "took a telephone worth 2,600 yuan from a café table"
    assert {name for name, text in seen if facts in text} == {"extract", "summarise", "respond", "petition"}
    decides = [text for name, text in seen if name == "decide"]
    assert "Articles that may apply" in decides[0]
    assert "Charges that may apply" in decides[0]
    assert "A shorter term." not in decides[0]
    assert "A shorter term." in decides[1]


def test_key_frames_go_to_the_roles_that_read_the_facts(house: Courthouse) -> None:
    case = house.library.case("criminal-bus-wallet")
    assert isinstance(case, CriminalCase)
    model = Court()
    hear(house, model, case)
    shown = {
        request.task.name
        for request in model.history
        for message in request.messages
        if any(isinstance(part, Medium) for part in message.parts)
    }
    assert shown == {"extract", "summarise", "respond", "petition"}


def test_without_the_knowledge_base_nothing_is_looked_up(house: Courthouse) -> None:
    record = hear(house, Court(objects=False), variant="no-knowledge")
    assert record.retrievals == ()
    assert "Retrieval" in stages(record)


def test_without_other_agents_the_chief_judge_decides_alone(house: Courthouse) -> None:
    record = hear(house, Court(), variant="no-agents")
    assert [call.member for call in record.calls] == ["chief"]
    assert [member.role for seated in record.of(Seated) for member in seated.members] == ["chief"]
    assert record.retrievals[0].query.text == CASE.facts  # type: ignore[union-attr]


def test_a_judgment_in_words_is_repaired(house: Courthouse) -> None:
    model = Court(objects=False, first={**FIRST, "relevant_articles": ["Article 264"]})
    record = hear(house, model)
    assert record.run.verdict is not None
    assert record.run.verdict.details["judgment"]["relevant_articles"] == [264]
    assert len(model.history) == 4


def test_a_judgment_that_contradicts_itself_is_asked_again(house: Courthouse) -> None:
    contradictory = {**FIRST, "term_of_imprisonment": {"life_imprisonment": True, "imprisonment": 36}}
    model = Court(objects=False, first=contradictory)
    record = hear(house, model)
    assert record.run.status == "failed"
    assert "can't go on without this answer" in record.run.reason
    assert sum(request.task.name == "decide" for request in model.history) == 3  # asked, and asked again twice


def test_a_case_analysis_ends_with_a_choice_and_a_crime_amount_with_a_sum(house: Courthouse) -> None:
    question = CriminalCase(
        id="q",
        title="q",
        asked="case_analysis",
        facts="Which is right?",
        options=("a", "b", "c", "d"),
        gold=Gold(choice="C"),
    )
    record = hear(house, Court(), question)
    assert record.run.verdict is not None
    assert record.run.verdict.outcome == "C"
    amount = CriminalCase(id="a", title="a", asked="crime_amount", facts="He took 1,500 yuan, then 7,000 yuan.")
    record = hear(house, Court(), amount)
    assert record.run.verdict is not None
    assert record.run.verdict.details == {"amount": 8500.0}


def test_the_views_show_flow_ranks_and_the_real_judgment(house: Courthouse) -> None:
    record = hear(house, Court())
    views = {view.name: view.draw(record) for view in PROCEDURES["jurisagents"].views}
    assert list(views["flow"]) == ["First instance", "Second instance"]
    told = str(views["judgment"])
    for word in (
        "First instance",
        "Judgment",
        "Real judgment",
        "12 months",
        "8 months",
        "7 months",
        "different",
        "same",
    ):
        assert word in told
    assert "Dense rank" in str(views["retrieval"])


def test_a_fork_with_nothing_changed_asks_nothing_and_one_with_a_shorter_list_asks_the_chief_judge(
    house: Courthouse,
) -> None:
    parent = hear(house, Court(objects=False))
    assert isinstance(parent.setup, JurisAgentsSetup)
    for changes, asked in (({}, 0), ({"statutes": 3}, 1)):
        run = house.fork(parent.run.id, parent.setup.model_copy(update=changes))
        house.runner.go(run)
        house.runner.wait(run, 60)
        assert house.record(run).asked == asked
