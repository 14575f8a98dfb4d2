"""JurisAgents: six stages, two instances, the ablations and the extension tasks, with a scripted and the offline model."""

import json
from itertools import count

import pytest

from courtroom import Courthouse, Hit, ModelSpec, Record, Search
from courtroom.cases.criminal import CriminalCase, DecidedFor, Given, Gold
from courtroom.engine.events import Noted
from courtroom.experiments.measures.criminal import CRIMINAL
from courtroom.experiments.measures.measure import CaseResult
from courtroom.experiments.outcome import Outcome
from courtroom.judging.criminal import precedents_of
from courtroom.law import Both, Statute, Term, charge_in_book, charges_compared
from courtroom.models.request import Request
from courtroom.models.schema import schema_of
from courtroom.procedures import PROCEDURES
from courtroom.procedures.jurisagents.tasks import ReasonedJudgment
from tests.driving import answered_by, hearing
from tests.driving import house as house  # a fixture
from tests.toy import Scripted, text_of

CASE = CriminalCase(
    id="phone",
    title="A telephone in a café",
    facts="On 3 May 2023 the defendant, Mr Duan, took a telephone worth 2,600 yuan from a café table and fled. He confessed.",
    defendants=("Mr Duan",),
    gold=Gold(relevant_articles=(264,), charges=("theft",), term_of_imprisonment=Term(imprisonment=7)),
)
FIRST = {"relevant_articles": [264], "charge": ["theft"], "term_of_imprisonment": {"imprisonment": 12}}
FINAL = {"relevant_articles": [264], "charge": ["theft"], "term_of_imprisonment": {"imprisonment": 8}}
RUNS = count()
"""Each run's model has a name of its own: what another has answered is not on record for it."""


class Court(Scripted):
    """Each role answers as told; the defendant may object."""

    def __init__(self, *, objects: bool = True, first: object = None, upholds: bool = False) -> None:
        self.objects, self.first, self.upholds = objects, first or FIRST, upholds
        super().__init__(reply=self.said)

    def said(self, request: Request) -> str:
        second = "# Appeal petition" in text_of(request)
        answers: dict[str, object] = {
            "extract": {"defendant": "Mr Duan", "acts": [{"act": "Took a telephone.", "intent": "intent"}]},
            "summarise": {"summary": "A telephone was taken." + (" He confessed." if second else "")},
            "decide": (self.first if self.upholds else FINAL) if second else self.first,
            "decide-alone": self.first,
            "respond": {"accepts": not self.objects, "objection": "Too long." if self.objects else ""},
            "petition": {
                "appellant": "Mr Duan", "request": "A shorter term.", "facts_and_reasons": "He confessed.",
                "legal_basis": "Article 264.", "conclusion": "Please change it.",
            },
            "analyse": {"parties": ["Dayang, the seller"], "points": ["The contract."], "wanted": "incorrect"},
            "issue": {"issue": "Which court has jurisdiction."},
            "choose": {"reason": "It says so.", "choice": "C"},
            "add-up": {"amount": 8500, "parts": [1500, 7000]},
        }  # fmt: skip
        return json.dumps(answers[request.task.name])


def hear(house: Courthouse, model: Scripted, case: CriminalCase = CASE, **knobs: object) -> Record:
    answered_by(house, model)
    return hearing(house, "jurisagents", case, model=ModelSpec(id=f"scripted-{next(RUNS)}"), **knobs)


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
    assert verdict.details["judgment"]["term_of_imprisonment"]["imprisonment"] == 8
    assert verdict.details["first_instance"]["term_of_imprisonment"]["imprisonment"] == 12
    assert verdict.note == "The second instance changed the judgment, from 12 months to 8 months."
    views = {view.name: view.draw(record) for view in PROCEDURES["jurisagents"].views}
    assert list(views["flow"]) == ["First instance", "Second instance"]
    told = str(views["judgment"])
    for word in ("First instance", "Judgment on record", "12 months", "8 months", "7 months", "different", "same"):
        assert word in told
    assert "Dense rank" in str(views["retrieval"])


def test_the_assistant_looks_up_ten_statutes_and_charges_dense_and_five_precedents_hybrid(house: Courthouse) -> None:
    (preset,) = [preset for preset in PROCEDURES["jurisagents"].presets if preset.title == "Paper"]
    model = Court()
    record = hear(house, model, **{name: value for name, value in preset.changes.items() if name != "model"})
    first = {r.query.collection: r for r in record.retrievals if r.stage == "retrieval"}
    assert [(first[of].query.mode, len(first[of].hits)) for of in ("statutes", "charges")] == [("dense", 10)] * 2
    assert (first["cases"].query.mode, first["cases"].query.weights) == ("hybrid", (1.0, 0.3))
    assert {r.query.text for r in first.values()} == {"A telephone was taken."}
    assert [text.count("\nDecided:\n") for text in model.prompts("decide")] == [5, 5], "whatever they are"


def test_each_role_sees_what_the_paper_gives_it(house: Courthouse) -> None:
    model = Court()
    seated = {one.role for one in hear(house, model).members}
    assert seated == {"junior", "senior", "chief", "assistant", "defendant", "counsel"}
    seen = [(request.task.name, text_of(request)) for request in model.history]
    facts = "took a telephone worth 2,600 yuan from a café table"
    assert {name for name, text in seen if facts in text} == {"extract", "summarise", "respond", "petition"}
    first, second = model.prompts("decide")
    assert "Articles of the Criminal Law that may apply" in first
    assert "Charges that may apply" in first
    assert ("A shorter term." in first, "A shorter term." in second) == (False, True)


def test_key_frames_go_to_the_roles_that_read_the_facts(house: Courthouse) -> None:
    case, model = house.library.case("criminal-bus-wallet"), Court()
    hear(house, model, case)
    assert {one.task.name for one in model.history if one.pictures} == {"extract", "summarise", "respond", "petition"}
    model = Court()
    hear(house, model, case, pictures=False)
    assert len(model.history) == 8
    for request in model.history:
        assert not request.pictures
        assert not any(frame.description in text_of(request) for frame in case.frames)


def test_without_the_knowledge_base_nothing_is_looked_up(house: Courthouse) -> None:
    record = hear(house, Court(objects=False), variant="no-knowledge")
    assert record.retrievals == ()
    assert "Retrieval" in stages(record)
    assert stages(record)[-1] == "Objection", "an accepted judgment ends the case"
    assert record.run.verdict.note.startswith("The defendant accepted")
    record = hear(house, Court(), second_look_up=False)
    assert {r.stage for r in record.retrievals} == {"retrieval"}
    assert [call.task for call in record.calls][-3:] == ["extract", "summarise", "decide"]


def test_a_judgment_that_contradicts_itself_is_asked_again(house: Courthouse) -> None:
    contradictory = {**FIRST, "term_of_imprisonment": {"life_imprisonment": True, "imprisonment": 36}}
    model = Court(objects=False, first=contradictory)
    record = hear(house, model)
    assert record.run.status == "failed"
    assert "can't go on without this answer" in record.run.reason
    assert len(model.prompts("decide")) == 3  # asked, and asked again twice


def test_a_case_analysis_ends_with_a_choice_and_a_crime_amount_with_a_sum(house: Courthouse) -> None:
    question = CriminalCase(id="q", title="q", asked="case_analysis", facts="Which is right?", options=tuple("abcd"))
    model = Court()
    record = hear(house, model, question)
    assert record.run.verdict.outcome == "C"
    assert [call.task for call in record.calls] == ["analyse", "issue", "choose"]
    analyse, issue, choose = map(text_of, model.history)
    for prompt in (analyse, issue):
        assert "defendant" not in prompt
        assert "criminal" not in prompt.casefold()
    assert "Dayang, the seller" in issue
    assert "The question looks for the option that is incorrect." in choose
    assert "Which court has jurisdiction." in choose
    amount = CriminalCase(id="a", title="a", asked="crime_amount", facts="He took 1,500 yuan, then 7,000 yuan.")
    record = hear(house, model, amount)
    assert record.run.verdict.details == {"amount": 8500.0}
    told = model.prompts("extract")[-1]
    assert "Which criminal acts do the facts hold, whoever did them" in told
    assert "did that person commit" not in told


def test_the_second_instance_has_its_own_summary_and_look_ups_and_knows_the_appellant(house: Courthouse) -> None:
    model = Court()
    record = hear(house, model, query="summary")
    texts = {r.stage: r.query.text for r in record.retrievals if isinstance(r.query, Search)}
    first = "A telephone was taken."
    assert texts == {"retrieval": first, "second-instance": f"{first} He confessed."}
    for text in map(text_of, model.history[5:]):
        assert "Appellant:\n> Mr Duan" in text
        assert "A shorter term." in text, "the whole petition"
        assert "of the second instance" in text
    model = Court(upholds=True)
    record = hear(house, model, first_judgment="chief")
    assert record.run.verdict.note == "The second instance upheld the judgment."
    assert "uphold the judgment of the first instance by giving it again" in text_of(model.history[-1])


@pytest.mark.parametrize(
    ("shown", "who"), [("none", set()), ("chief", {"decide"}), ("all", {"extract", "summarise", "decide"})]
)
def test_the_first_judgment_is_shown_to_whom_the_setup_names(house: Courthouse, shown: str, who: set[str]) -> None:
    model = Court()
    hear(house, model, first_judgment=shown)
    judgment = "# Judgment of the first instance\n\nArticles: 264\nCharges:\n> theft\nTerm: 12 months"
    assert {request.task.name for request in model.history[5:] if judgment in text_of(request)} == who


TERM_OF = CASE.model_copy(
    update={"given": Given(charges=("snatching",), relevant_articles=(267,), article_text="Whoever snatches ...")}
)


def test_a_term_is_predicted_with_charge_and_article_given_or_without(house: Courthouse) -> None:
    model = Court(objects=False)
    judgment = hear(house, model, TERM_OF).run.verdict.details["judgment"]
    assert (judgment["charges"], judgment["relevant_articles"]) == (["snatching"], [267])
    assert judgment["term_of_imprisonment"]["imprisonment"] == 12
    assert all("Whoever snatches ..." in text_of(request) for request in model.history)
    model.history.clear()
    assert hear(house, model, TERM_OF, given=False).run.verdict.details["judgment"]["charges"] == ["theft"]
    assert model.history
    assert not any("snatch" in text_of(one).partition("# Charges that may")[0] for one in model.history)


def test_reasons_come_before_the_decision_where_the_setup_asks_for_them(house: Courthouse) -> None:
    class Reasoning(Court):
        def said(self, request: Request) -> str:
            return json.dumps({"reasons": "Because.", **json.loads(super().said(request))})

    for reasons, first in ((False, ("relevant_articles", "accepts")), (True, ("reasons", "reasons"))):
        model = Reasoning()
        hear(house, model, reasons=reasons)
        fields = {request.task.name: next(iter(request.task.form.model_fields)) for request in model.history}
        assert (fields["decide"], fields["respond"]) == first
    fields = list(json.loads(schema_of(ReasonedJudgment))["properties"])
    assert fields == ["reasons", "relevant_articles", "charge", "term_of_imprisonment"]


BROTHERS = CriminalCase(
    id="brothers",
    title="Two brothers",
    facts="The defendants Mr Duan and Mr Bo went to a café. Mr Duan took a telephone. Mr Bo kept watch and hid it.",
    defendants=("Mr Duan", "Mr Bo"),
    gold=Gold(
        charges=("theft",),
        each=(DecidedFor(name="Mr Duan", charges=("theft",)), DecidedFor(name="Mr Bo", charges=("hiding loot",))),
    ),
)


class OnEach(Court):
    """Mr Bo objects; Mr Duan accepts."""

    def said(self, request: Request) -> str:
        bo = "Primary defendant:\n> Mr Bo" in text_of(request)
        if request.task.name == "extract":
            name = "Mr Bo" if bo else "Mr Duan"
            return json.dumps({"defendant": name, "acts": [{"act": f"{name} did it.", "intent": "intent"}]})
        if request.task.name == "respond":
            return json.dumps({"accepts": not bo, "objection": "Too long." if bo else ""})
        if request.task.name == "decide" and "> Mr Bo did it." in text_of(request):
            return json.dumps({**FIRST, "charge": ["hiding loot"]})
        return super().said(request)


def test_each_of_several_defendants_has_a_judgment_and_a_missing_answer_is_that_ones(house: Courthouse) -> None:
    record = hear(house, OnEach(), BROTHERS, defendants="each")
    verdict = record.run.verdict
    assert [
        (one["defendant"], one["judgment"]["charges"], "first_instance" in one) for one in verdict.details["judgments"]
    ] == [("Mr Duan", ["theft"], False), ("Mr Bo", ["hiding loot"], True)]
    assert verdict.details["judgment"]["charges"] == ["theft"]
    assert "Mr Duan: The defendant accepted" in verdict.note
    assert "Mr Bo: The second instance upheld" in verdict.note
    petitions = [call.path for call in record.calls if call.task == "petition"]
    assert petitions == ["appeal/counsel/petition-defendant-2"]

    class Broken(OnEach):
        def said(self, request: Request) -> str:
            broken = request.task.name == "decide" and "> Mr Bo did it." in text_of(request)
            return "no answer" if broken else super().said(request)

    verdict = hear(house, Broken(), BROTHERS, defendants="each").run.verdict
    assert [one["defendant"] for one in verdict.details["judgments"]] == ["Mr Duan"]
    assert "Mr Bo: no judgment" in verdict.note


def test_the_primary_defendant_alone_is_judged_unless_asked_otherwise(house: Courthouse) -> None:
    model = Court(objects=False)
    assert "judgments" not in hear(house, model, BROTHERS).run.verdict.details
    assert "Other defendants in this case:\n> Mr Bo" in text_of(model.history[0])
    record = hear(house, Court(), BROTHERS, defendants="refuse")
    assert record.run.status == "failed"
    assert "names 2 defendants" in record.run.reason
    assert record.calls == ()


def test_one_judge_alone_is_told_of_no_panel_and_no_knowledge_base_that_is_not_there(house: Courthouse) -> None:
    model = Court()
    assert hear(house, model, variant="single-model").retrievals == ()
    (request,) = model.history
    for word in ("hearing", "colleague", "junior", "senior", "chief", "listed", "looked up", "may apply"):
        assert word not in text_of(request)
    hear(house, model, variant="no-knowledge")
    assert ["may apply" in text for text in model.prompts("decide")] == [False, False]


def precedent(name: str, facts: str, **gold: object) -> CriminalCase:
    return CriminalCase(id=name, title=name, facts=facts, gold=Gold.model_validate(gold))


def test_a_run_looks_in_the_knowledge_base_that_its_setup_names(house: Courthouse) -> None:
    mine = Statute(number=264, text=Both(en="Whoever steals a telephone ..."))
    late = Statute(number=133, suffix=1, text=Both(en="Dangerous driving ..."))
    house.knowledge.of("statutes", "mine").add([mine, late])
    model = Court(objects=False)
    record = hear(house, model, base="mine")
    (decide,) = model.prompts("decide")
    assert "Article 264:\n> Whoever steals a telephone ..." in decide
    assert "Article 133 (133-1):\n> Dangerous driving ..." in decide, "an answer takes whole numbers"
    assert "unofficial" not in decide
    assert len(record.of(Noted)) == 2, "it has no charges and no precedents"
    failed = hear(house, model, base="nowhere")
    assert failed.run.status == "failed"
    assert "There is no knowledge base “nowhere”" in failed.run.reason


def test_five_precedents_are_shown_and_none_is_the_case_itself_in_whatever_writing(house: Courthouse) -> None:
    again = (
        CASE.facts,
        CASE.facts.replace(". ", " .\n"),
        f"The prosecution says: he fled. {CASE.facts} The court has heard this.",
        CASE.facts.removesuffix(" He confessed."),
    )
    others = [f"Mr {n} took a telephone worth {n},600 yuan." for n in range(6)]
    known = [*((facts, "its own") for facts in again), *((facts, "theft") for facts in others)]
    base = house.knowledge.of("cases", "again")
    base.add([precedent(f"case-{n}", facts, charges=[charge]) for n, (facts, charge) in enumerate(known)])
    model = Court()
    hear(house, model, base="again", statutes=0, charges=0)
    seen = list(map(text_of, model.history))
    assert seen[2].count("Decided:\n> theft\n") == 5
    assert not any("its own" in text for text in seen)


def test_of_a_precedent_and_its_translation_the_one_in_the_cases_language_stands() -> None:
    own, other = precedent("own", "A purse was taken on a bus.", charges=["theft"]), Gold(charges=("盗窃",))
    translation = CriminalCase(
        id="own-zh", title="扒窃", language="zh", facts="公交车上扒窃钱包。", gold=other, translates="own"
    )
    for hits in ((own, translation), (translation, own)):
        found = [Hit(id=one.id, similarity=0.5, record=one.model_dump(mode="json")) for one in hits]
        assert [one.id for one in precedents_of(found, CASE, 5)] == ["own"]
        assert [one.id for one in precedents_of(found, CASE.model_copy(update={"language": "zh"}), 5)] == ["own-zh"]


def test_a_precedent_too_unlike_the_case_is_not_shown_and_this_is_told(house: Courthouse) -> None:
    model = Court()
    record = hear(house, model, likeness=0.95)
    assert not any("# Similar cases" in text for text in model.prompts("decide"))
    question = CriminalCase(id="q", title="q", asked="case_analysis", facts="Which is right?", options=tuple("abcd"))
    of_question = hear(house, Court(), question, likeness=0.95)
    for found, stages_told in ((record, ["retrieval", "second-instance"]), (of_question, ["retrieval"])):
        notes = found.of(Noted)
        assert [note.stage for note in notes] == stages_told
        assert all(note.text.startswith("Nothing near enough was found among the precedents") for note in notes)


def test_charges_are_compared_as_the_statute_book_names_them(house: Courthouse) -> None:
    known = Gold(relevant_articles=(312,), charges=("concealing or disguising proceeds of crime",))
    said = {**FIRST, "relevant_articles": [312, 67], "charge": ["Concealing or disguising the proceeds of crime"]}
    case = CASE.model_copy(update={"gold": known})
    record = hear(house, Court(objects=False, first=said), case)
    told = str(PROCEDURES["jurisagents"].views[2].draw(record))
    assert "different" not in told
    assert "same, in other words" in told
    row = CaseResult(case, "", Outcome(details=record.run.verdict.details))
    scores = [one.each(row) for one in CRIMINAL if one.each and one.name in ("charge_accuracy", "article_accuracy")]
    assert scores == [1.0, 1.0]
    ranked = record.run.verdict.details["candidates"]["charges"]
    assert len(charges_compared(ranked)) == len(ranked), "one charge in two wordings takes one place"
    names = ("掩饰、隐瞒犯罪所得罪", "concealing proceeds of crime", "掩饰、隐瞒犯罪所得、犯罪所得收益")
    assert len({charge_in_book(name) for name in names}) == 1
    assert charge_in_book("Fraud") != charge_in_book("contract fraud")
    assert charge_in_book("of our own making") == "of our own making"


@pytest.mark.parametrize("variant", ["jurisagents", "no-agents"])
def test_a_fuller_judgment_can_suspend_fine_and_acquit(house: Courthouse, variant: str) -> None:
    further = {"suspended_months": 12, "fine_yuan": 3000}
    record = hear(house, Court(objects=False, first={**FIRST, "further": further}), variant=variant, fuller=True)
    assert "suspended for 12 months, a fine of 3,000 yuan" in record.run.verdict.summary
    assert "suspended for 12 months" in str(PROCEDURES["jurisagents"].views[2].draw(record))
    nobody = {"relevant_articles": [], "charge": [], "term_of_imprisonment": {}, "further": {"acquitted": True}}
    record = hear(house, Court(objects=False, first=nobody), variant=variant, fuller=True)
    assert record.run.verdict.outcome == "not guilty"
    plain = hear(house, Court(objects=False, first=nobody), variant=variant)
    assert plain.run.status == "failed", "the paper's form has no acquittal"
