"""VERDICT: draft, verify, revise; who sees what; the ablations; the export for training an expert."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from courtroom import Courthouse, CourtroomError, Fetch, ModelSpec, Record, Search
from courtroom.cases.criminal import CriminalCase, DraftBatch, Gold
from courtroom.knowledge.bases import bundled_statutes
from courtroom.knowledge.memory import Directive, Recall, Standard
from courtroom.law import Both, Judgment, Statute, Term
from courtroom.models.request import Request
from courtroom.models.schema import schema_of
from courtroom.procedures import PROCEDURES
from courtroom.procedures.verdict.alignment import adapter, first_drafts, preferences, supervised
from courtroom.procedures.verdict.setup import VerdictSetup
from courtroom.procedures.verdict.tasks import Advice, DraftJudgment, ReflectOnDraft
from courtroom.procedures.verdict.train import fitting
from tests.driving import whole_hearing
from tests.toy import Scripted, text_of
from tests.write_prompts import FOLDER, WITH_MEMORY, with_memory

QUARRELS = "picking quarrels and provoking trouble"
CASE = CriminalCase(
    id="stall",
    title="A stall",
    facts="The defendant, Mr Lai, drunk, beat a stranger with a bottle at a barbecue stall because of a look.",
    defendants=("Mr Lai",),
    gold=Gold(relevant_articles=(293,), charges=(QUARRELS,), term_of_imprisonment=Term(imprisonment=12)),
)


class Panel(Scripted):
    """Drafts 234, then what the feedback names; the supervisor rejects as often as told."""

    def __init__(
        self, rejections: int = 1, articles: tuple[object, ...] = ("Article 234", 293, 452), explanation: str = ""
    ) -> None:
        self.rejections, self.drafts, self.articles, self.explanation = rejections, (234, 293), articles, explanation
        super().__init__(reply=self.said)

    def said(self, request: Request) -> str:
        turn = text_of(request).count("It was rejected")
        drafted = self.drafts[min(turn, len(self.drafts) - 1)]
        verified = len(self.prompts("verify"))
        rejects = request.task.name == "verify" and verified <= self.rejections
        answers: dict[str, object] = {
            "extract": {"points": ["Drunk.", "Beat a stranger with a bottle at a stall."]},
            "rerank": {"articles": self.articles},
            "draft": {"predicted_article": drafted, "explanation": self.explanation or f"The facts meet {drafted}, turn {turn}."},
            "verify": {"need_rejudge": rejects, "suggestions": f"Article 293: public place ({verified})." if rejects else "Sound."},
            "preside": {
                "thought": "A public place.", "relevant_articles": [293], "accusation": [QUARRELS],
                "term_of_imprisonment": {"imprisonment": 12},
            },
            "reflect": {"advice": "Look at the place."},
        }  # fmt: skip
        answers["alone"] = answers["preside"]
        return json.dumps(answers[request.task.name])


def hear(house: Courthouse, model: Panel, case: CriminalCase = CASE, **knobs: object) -> Record:
    house.pool = model  # type: ignore[assignment, misc]
    return whole_hearing(house, "verdict", case, **{"model": ModelSpec(id="scripted"), **knobs})


def test_a_rejected_draft_is_revised_with_the_feedback_in_view(house: Courthouse) -> None:
    model = Panel(rejections=1)
    record = hear(house, model)
    assert [stage.name for stage in record.stages] == ["Pre-adjudication", "Turn 1", "Turn 2", "Final adjudication"]
    assert "meta" not in {member.role for member in record.members}, "it sits in training runs alone"
    assert ["Article 293: public place (1)." in draft for draft in model.prompts("draft")] == [False, True]
    assert record.run.verdict.note == "The draft passed in turn 2, after 1 rejection."
    found = record.run.verdict.details["candidates"]
    assert found["relevant_articles"][:2] == [293, 234]  # the judgment's, then a rejected draft's
    assert found["charges"][:2] == [QUARRELS, "intentional injury"]


def test_feedback_accumulates_and_the_loop_ends_after_t_max_turns(house: Courthouse) -> None:
    model = Panel(rejections=9)
    record = hear(house, model, learning={"on": True})
    assert [stage.name for stage in record.stages][1:4] == ["Turn 1", "Turn 2", "Turn 3"]
    assert "meta" in {member.role for member in record.members}
    assert all(f"public place ({turn})." in model.prompts("draft")[-1] for turn in (1, 2))
    assert record.run.verdict.note.startswith("No draft passed in 3 turns")
    assert house.knowledge.memory.buffer.get("standard-stall") is not None  # right, but not verified


def test_an_article_of_the_assistants_own_is_fetched_with_its_text(house: Courthouse) -> None:
    model = Panel(rejections=0)
    record = hear(house, model)
    fetched = {name for r in record.retrievals if isinstance(r.query, Fetch) for name in r.query.ids}
    listed = {hit.id for r in record.retrievals if r.path.endswith("/statutes") for hit in r.hits}
    assert fetched.isdisjoint(listed)
    (draft,) = model.prompts("draft")
    assert all(f"Article {article}," in draft for article in (234, 293))
    assert draft.count("(unofficial summary)") >= 2  # the bundled digest is not the law's own words
    statutes = [Statute(number=234, suffix=n, text=Both(en=f"Text {n}.")) for n in (0, 12, 9)]
    statutes.append(Statute(number=1, text=Both(en=CASE.facts)))
    house.knowledge.of("statutes", "mine").add(statutes)
    model.history.clear()
    record = hear(house, model, base="mine", statutes=1, ranking="dense")
    (coarse, *_) = [one.query for one in record.retrievals if isinstance(one.query, Search)]
    assert (coarse.text, coarse.mode, coarse.k) == ("Drunk.\nBeat a stranger with a bottle at a stall.", "dense", 1)
    (draft,) = model.prompts("draft")
    texts = [draft.index(f"Text {n}.") for n in (0, 9, 12)]
    assert texts == sorted(texts), "a number brings all its texts"


def test_a_question_is_refused_before_it_is_on_record(house: Courthouse) -> None:
    question = CASE.model_copy(update={"asked": "crime_amount"})
    with pytest.raises(CourtroomError, match="Hear this case with JurisAgents"):
        house.new_run("verdict", question, VerdictSetup(), 0)
    assert [*house.store.each()] == []


A_YEAR = {"relevant_articles": [293], "accusation": [QUARRELS], "term_of_imprisonment": {"imprisonment": 12}}
SUSPENDED = {**A_YEAR, "further": {"suspended_months": 12, "fine_yuan": 3000}}
ACQUITTED = {"relevant_articles": [], "accusation": [], "term_of_imprisonment": {}, "further": {"acquitted": True}}


@pytest.mark.parametrize("variant", ["verdict", "no-agents"])
@pytest.mark.parametrize(
    ("judged", "told"),
    [(SUSPENDED, "suspended for 12 months, a fine of 3,000 yuan"), (ACQUITTED, "not guilty")],
    ids=["suspended", "acquitted"],
)
def test_a_fuller_judgment_of_verdict_can_suspend_and_acquit(
    house: Courthouse, variant: str, judged: dict[str, object], told: str
) -> None:
    model = Panel(rejections=0)
    decided = json.dumps({"thought": "A public place."} | judged)
    model.reply = lambda request: decided if request.task.name in ("preside", "alone") else model.said(request)
    verdict = hear(house, model, variant=variant, fuller=True).run.verdict
    assert told in f"{verdict.outcome}: {verdict.summary}"


def test_one_judge_alone_has_the_memory_and_is_not_told_of_a_panel(house: Courthouse) -> None:
    remember(house)
    model = Panel()
    record = hear(house, model, variant="no-agents", precedents=2)
    recalled = [one.query for one in record.retrievals if isinstance(one.query, Recall)]
    found = [(one.collection, one.k, one.text) for one in recalled]
    assert found == [("standards", 2, CASE.facts), ("directives", 3, CASE.facts)]
    assert {"article:293", "charge:寻衅滋事"} <= set(recalled[0].tags), "of the candidate statutes"
    (text,) = model.prompts()
    assert all(part in text for part in ("A bottle was broken on a table.", "Who beats a stranger in public"))
    assert not re.findall("panel|presiding|supervisor|draft|clerk|assistant", text.lower())


def test_without_a_memory_no_prompt_speaks_of_one(house: Courthouse) -> None:
    remember(house)
    model = Panel(rejections=1)
    hear(house, model, variant="no-memory")
    assert not any(word in text.lower() for text in model.prompts() for word in ("precedent", "directive"))
    model.history.clear()
    hear(house, model, variant="no-directives")
    (text, *_) = model.prompts("verify")
    assert "go against a precedent above" in text
    assert "directive" not in text.lower()


def remember(house: Courthouse) -> None:
    """A standard and a directive that fit the case."""
    judged = Judgment(relevant_articles=(293,), charges=(QUARRELS,))
    facts = "A bottle was broken on a table. A stranger at the stall was beaten because of a look."
    standard = Standard(id="s", case="other", facts=facts, reasoning="In public.", verdict=judged, gold=judged)
    house.knowledge.memory.standards.add([standard])
    text = "Who beats a stranger in public because of a look falls under article 293."
    directive = Directive(id="d", text=text, anchor=293, charges=judged.charges, supporting=("s",))
    house.knowledge.memory.directives.add([directive])


def test_the_presiding_judge_reads_points_drafts_and_all_that_the_supervisor_said(house: Courthouse) -> None:
    model = Panel()
    hear(house, model)
    (text,) = model.prompts("preside")
    rejected = ("The facts meet 234, turn 0.", "It was rejected:", "Article 293: public place (1).")
    parts = ("1. Drunk.", *rejected, "The facts meet 293, turn 1.", "It was passed:", "Sound.")
    assert [part for part in parts if part not in text] == []
    charges = [QUARRELS, "intentional injury"]
    ordered = {"thought": "Both.", "relevant_articles": [293, 234], "accusation": charges, "term_of_imprisonment": {}}
    model.reply = lambda request: json.dumps(ordered) if request.task.name == "preside" else model.said(request)
    case = CASE.model_copy(update={"facts": f"{CASE.facts} He confessed."})
    judgment = hear(house, model, case).run.verdict.details["judgment"]
    assert (judgment["relevant_articles"], judgment["charges"]) == ([293, 234], charges), "in their order"


def test_reasons_come_before_decisions_but_where_the_paper_has_it_otherwise(house: Courthouse) -> None:
    model = Panel(rejections=0)

    def fields(task: str, **knobs: object) -> list[str]:
        hear(house, model, **knobs)
        request = [request for request in model.history if request.task.name == task][-1]
        return list(json.loads(schema_of(request.task.form))["properties"])

    assert fields("preside") == ["thought", "relevant_articles", "accusation", "term_of_imprisonment"]
    assert fields("draft") == ["predicted_article", "explanation"]
    assert fields("verify") == ["need_rejudge", "suggestions"]
    assert fields("draft", reasons_first=True) == ["explanation", "predicted_article"]
    assert fields("verify", reasons_first=True) == ["suggestions", "need_rejudge"]


def aligned(house: Courthouse, model: Panel, *records: Record, rounds: int = 3) -> Record:
    batch = DraftBatch(id="drafts", title="Drafts", drafts=tuple(first_drafts(records)))
    return whole_hearing(house, "alignment", batch, model=ModelSpec(id="scripted"), rounds=rounds)


def pairs(house: Courthouse, record: Record) -> list[dict[str, Any]]:
    return [json.loads(line) for line in preferences(record, house.answers).splitlines()]


def article(messages: list[dict[str, str]]) -> int:
    """The article that a draft names."""
    return json.loads(messages[-1]["content"])["predicted_article"]


def test_a_wrong_first_draft_becomes_a_preference_pair_in_the_form_that_trl_reads(house: Courthouse) -> None:
    model = Panel(rejections=1)
    first = iter(["no JSON"])
    model.reply = lambda request: (request.task.name == "draft" and next(first, "")) or model.said(request)
    record = hear(house, model)
    model.reply = model.said
    record = aligned(house, model, record)
    (pair,) = pairs(house, record)
    assert [message["role"] for message in pair["prompt"]] == ["system", "user"], "as it was asked first"
    assert "beat a stranger with a bottle" in pair["prompt"][1]["content"]
    assert (article(pair["rejected"]), article(pair["chosen"])) == (234, 293)
    assert supervised(record, house.answers) == ""
    corrected = model.prompts("draft")[-1]
    assert "Look at the place." in corrected  # the expert sees the advice
    assert "What the court really applied" not in corrected  # and not the real articles
    assert "The facts meet 234, turn 0." in corrected  # its own wrong draft is in view (Eq. 5)
    assert "as if for the first time" in corrected  # so that a winner speaks of no advice
    assert json.loads(adapter(record, house.answers))["rank"] == 64
    assert [export.file for export in PROCEDURES["alignment"].exports] == ["sft.jsonl", "dpo.jsonl", "adapter.json"]


@pytest.mark.parametrize(("rounds", "reflections", "winners"), [(0, 0, []), (1, 1, []), (2, 2, [293]), (3, 2, [293])])
def test_a_draft_is_corrected_till_valid(house: Courthouse, rounds: int, reflections: int, winners: list[int]) -> None:
    model = Panel(rejections=0)
    record = hear(house, model)
    model.drafts = (234, 275, 293)
    record = aligned(house, model, record, rounds=rounds)
    assert [article(pair["chosen"]) for pair in pairs(house, record)] == winners
    assert len(model.prompts("reflect")) == reflections
    assert all("Drunk." in one for one in model.prompts("reflect"))  # the points, and later its own advice
    assert ["your advice on each" in asked for asked in model.prompts("reflect")] == [False, True][:reflections]
    assert "The facts meet 275, turn 1." in text_of(model.history[-1]) or rounds <= 1  # the last wrong draft is in view


def test_advice_that_gives_the_real_article_or_charge_away_is_asked_for_again() -> None:
    statutes = tuple(statute for statute in bundled_statutes() if statute.number in (234, 293))
    draft = DraftJudgment(predicted_article=234, explanation="x")
    known = {"points": ("Drunk.",), "real_articles": (293,), "real_charges": (QUARRELS,)}
    task = ReflectOnDraft(case=CASE.blind(), draft=draft, statutes=statutes, **known)
    for advice in ("Look at the place, article 234 aside.", "Whether a stranger was beaten."):
        assert task.problem(Advice(advice=advice)) is None
    article = ("Article 293 applies.", "看第二百九十三条。", "See 293条.", "Art 293.", "It is (293).")
    for advice in (*article, f"It is {QUARRELS}."):
        assert task.problem(Advice(advice=advice)) is not None, advice
    missed = task.model_copy(update={"statutes": ()})  # the look-up had not found the real article
    assert missed.problem(Advice(advice=f"It is {QUARRELS.capitalize()}.")) is not None


def test_a_chinese_draft_is_corrected_in_chinese(house: Courthouse) -> None:
    chinese = CASE.model_copy(update={"id": "tan", "language": "zh", "facts": "被告人黎某酒后持酒瓶殴打陌生人。"})
    model = Panel(rejections=0)
    records = [hear(house, model, case=case) for case in (chinese, CASE)]
    model.history.clear()
    (pair,) = pairs(house, aligned(house, model, records[0]))
    assert {request.messages[0].parts[0] for request in model.history} == {pair["prompt"][0]["content"]}
    assert "Write in Chinese" in pair["prompt"][0]["content"]
    model.history.clear()
    aligned(house, model, *records)
    assert model.history
    assert all("Write in the language of the facts." in request.messages[0].parts[0] for request in model.history)


def test_a_right_first_draft_becomes_a_demonstration_and_a_wrong_correction_nothing(house: Courthouse) -> None:
    model = Panel(rejections=0)

    def taught(article: int, **knobs: object) -> Record:
        heard = hear(house, model, **knobs)
        case = heard.case.model_copy(update={"gold": Gold(relevant_articles=(article,))})
        return aligned(house, model, replace(heard, case=case))

    record = taught(234, reasons_first=True)
    (row,) = [json.loads(line) for line in supervised(record, house.answers).splitlines()]
    assert [message["role"] for message in row["messages"]] == ["system", "user", "assistant"]
    answer = json.loads(row["messages"][-1]["content"])
    assert list(answer) == ["explanation", "predicted_article"]  # in the order that the prompt asks for
    assert answer["predicted_article"] == 234
    assert preferences(record, house.answers) == ""
    record = taught(385)
    assert preferences(record, house.answers) == supervised(record, house.answers) == ""
    assert record.run.verdict.outcome == "0 demonstrations, 0 preference pairs"


@pytest.mark.parametrize("name", WITH_MEMORY)
def test_the_prompts_with_a_memory_in_view_are_those_on_file(name: str) -> None:
    kept = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    asked = with_memory(WITH_MEMORY[name])
    assert asked == kept, "read the new prompts, then write them by python -m tests.write_prompts"


PROMPT = [{"role": "system", "content": "You judge."}, {"role": "user", "content": "A purse was taken."}]


def draft(number: int) -> dict[str, str]:
    return {"role": "assistant", "content": json.dumps({"predicted_article": number, "explanation": "x"})}


class Words:
    """A tokenizer whose tokens are words."""

    def apply_chat_template(self, messages: list[dict[str, str]], *, tokenize: bool) -> str:
        return " ".join(message["content"] for message in messages)

    def __call__(self, text: str) -> dict[str, list[str]]:
        return {"input_ids": text.split()}


def test_rows_too_long_to_train_on_are_left_out_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """Cut, such a row would lose its answer."""
    long = [{"role": "user", "content": "A purse was taken. " * 9}]
    rows = [{"messages": [*PROMPT, draft(264)]}, {"messages": [*long, draft(264)]}]
    pair = {"prompt": PROMPT, "chosen": [draft(264)], "rejected": [*long, draft(266)]}
    assert fitting(rows, Words(), 20) == rows[:1]
    assert capsys.readouterr().out == "1 of 2 rows have over 20 tokens and are left out.\n"
    assert fitting([pair], Words(), 60) == [pair]
    with pytest.raises(CourtroomError, match="No row is short enough"):
        fitting([pair], Words(), 20)
