"""Baselines: nearest cases decide without a model; a discussion, self-consistency and a chain of thought."""

import re
from pathlib import Path
from typing import Any

import pytest

from courtroom.courthouse import Courthouse
from courtroom.engine.record import Record
from courtroom.errors import CourtroomError
from courtroom.judging.criminal import Referred
from courtroom.law import Decided, Term
from courtroom.procedures.discussion.tasks import POINTS_OF_VIEW
from courtroom.procedures.jurisagents.procedure import prevailing
from courtroom.settings import Settings
from tests.asked import asked
from tests.driving import drive, house
from tests.scripted_jury import Jury, courthouse
from tests.test_questions import bridge

__all__ = ["house"]  # a fixture


def heard(house: Courthouse, procedure: str, case: str, **knobs: Any) -> Record:
    setup = house.procedures[procedure].setup.model_validate(knobs)
    run = drive(house, house.new_run(procedure, house.library.case(case), setup, 0))
    return house.record(run)


def test_the_votes_on_the_nearest_precedents_decide_and_no_model_is_asked(house: Courthouse) -> None:
    record = heard(house, "cyberjurors", "phone-battery", variant="nearest-precedents", precedents=3)
    (found,) = record.retrievals
    votes = {side: sum(hit.record[f"{side}_votes"] for hit in found.hits) for side in ("buyer", "seller")}
    assert record.run.verdict.counts == votes
    assert record.run.verdict.outcome == max(votes, key=lambda side: votes[side])
    assert (len(found.hits), len(record.calls), record.cost) == (3, 0, 0.0)
    (ballot,) = record.ballots.values()
    assert [vote.choice for vote in ballot.values()] == [record.run.verdict.outcome]


def test_a_text_has_the_label_of_what_is_nearest_to_it(house: Courthouse) -> None:
    record = heard(house, "courtroom-llm", "message-feeling", structure="nearest", neighbours=1)
    (hit,) = record.retrievals[0].hits
    assert record.run.verdict.outcome == hit.record["label"]
    assert hit.record["id"].rpartition("/")[2] != record.run.verdict.details["results"][0]["id"]
    assert not record.calls
    many = heard(house, "courtroom-llm", "message-feeling", structure="nearest", neighbours=7)
    likeness: dict[str, float] = {}
    for one in many.retrievals[0].hits:
        likeness[one.record["label"]] = likeness.get(one.record["label"], 0.0) + one.similarity
    assert many.run.verdict.outcome == max(likeness, key=lambda label: likeness[label])


def test_a_case_has_the_judgment_of_the_nearest_precedent(house: Courthouse) -> None:
    record = heard(house, "jurisagents", "criminal-bus-wallet", variant="nearest-precedents", precedents=1)
    assert not record.calls
    hit, *_ = record.retrievals[0].hits
    judgment = record.run.verdict.details["judgment"]
    assert judgment["charges"] == list(hit.record["gold"]["charges"])
    assert judgment["relevant_articles"] == list(hit.record["gold"]["relevant_articles"])
    assert "no model was asked" in record.run.verdict.note


def test_precedents_prevail_by_their_likeness() -> None:
    def precedent(charge: str, article: int, similarity: float, **term: Any) -> Referred:
        judgment = Decided(charges=(charge,), relevant_articles=(article,), term_of_imprisonment=Term(**term))
        return Referred(id="any", facts="facts", judgment=judgment, similarity=similarity)

    near, short = precedent("fraud", 266, 0.6, imprisonment=60), precedent("theft", 264, 0.5, imprisonment=6)
    assert prevailing([near]).charges == ("fraud",)
    found = prevailing([near, short, precedent("theft", 264, 0.4, imprisonment=18)])
    assert (found.charges, found.relevant_articles, found.term_of_imprisonment.imprisonment) == (("theft",), (264,), 6)
    life = precedent("theft", 264, 0.5, life_imprisonment=True)
    assert prevailing([short, life, life]).term_of_imprisonment.life_imprisonment


def test_without_any_precedent_or_for_a_question_it_says_so(house: Courthouse) -> None:
    for procedure, case in (("cyberjurors", "phone-battery"), ("jurisagents", "criminal-bus-wallet")):
        record = heard(house, procedure, case, variant="nearest-precedents", precedents=0)
        assert record.run.status == "failed"
        assert "precedents could be found" in record.run.reason
    question = house.library.case("criminal-bus-wallet").model_copy(update={"id": "question", "asked": "crime_amount"})
    setup = house.procedures["jurisagents"].setup.model_validate({"variant": "nearest-precedents"})
    with pytest.raises(CourtroomError, match="Precedents answer no question"):
        house.new_run("jurisagents", question, setup, 0)


def test_each_speaker_reads_what_the_order_lets_it_read(house: Courthouse) -> None:
    def read(**knobs: Any) -> list[int]:
        return [len(one.task.said) for one in asked(house, "discussion", knobs) if one.task.name == "speak"]

    assert read() == [0, 1, 2, 3, 4, 5]
    assert read(order="simultaneous") == [0, 0, 0, 3, 3, 3]
    assert read(order="summarised") == [0, 0, 0, 0, 0, 0]
    summed = asked(house, "discussion", {"order": "summarised"})
    assert [one.task.name for one in summed] == ["speak"] * 3 + ["sum-up"] + ["speak"] * 3
    assert "# What was said so far, summed up" in summed[-1].text()
    assert "Member of the public said in turn 1 and voted for the" in summed[3].text()


def test_a_chinese_discussion_names_its_speakers_in_chinese(tmp_path: Path) -> None:
    house = Courthouse(Settings(home=tmp_path))
    case = house.library.case("concert-tickets")
    words = "".join(one.text() for one in asked(house, "discussion", {"turns": 2}, case=case))
    assert "You speak as: 批评者." in words
    assert "公众代表 said in turn 1" in words
    assert not [one.name for one in POINTS_OF_VIEW if one.name in words]


def test_self_consistency_asks_the_same_question_of_each_and_counts(house: Courthouse) -> None:
    (preset,) = (one for one in house.procedures["discussion"].presets if one.title == "Self-consistency")
    (text,) = {one.text() for one in asked(house, "discussion", preset.changes)}  # chance alone tells answers apart
    assert "turn" not in text
    assert "Critic" not in text
    record = heard(house, "discussion", "oak-table", **preset.changes)
    assert (len(record.calls), sum(record.run.verdict.counts.values())) == (5, 5)
    alone = heard(house, "discussion", "oak-table", speakers=1, turns=1, order="simultaneous", points_of_view=False)
    assert len(alone.calls) == 1


def test_a_tie_goes_where_the_setting_says(tmp_path: Path) -> None:
    jury = Jury()
    jury.votes = lambda request: ("buyer", "seller")[request.task.seat % 2]  # type: ignore[attr-defined]
    house = courthouse(Settings(home=tmp_path), jury)
    for tie in ("buyer", "seller"):
        knobs = {"model": {"id": "scripted", "vision": "no"}, "speakers": 2, "turns": 1, "tie": tie}
        verdict = heard(house, "discussion", "oak-table", **knobs).run.verdict
        assert (verdict.counts, verdict.outcome) == ({"buyer": 1, "seller": 1}, tie)


def test_debaters_hear_the_judge_see_the_media_and_know_the_round(house: Courthouse) -> None:
    questions = asked(house, "debate", {"rounds": 2}, house.library.case("camera-fungus"))
    texts = [one.text() for one in questions]
    argued = [text for one, text in zip(questions, texts, strict=True) if one.task.name == "argue"]
    ruled = [text for one, text in zip(questions, texts, strict=True) if one.task.name == "rule"]
    assert [one.task.side for one in questions if one.task.name == "argue"] == ["buyer", "seller", "seller", "buyer"]
    decided = re.compile(r"The judge decided for the (?:buyer|seller) at that point, and said:\n> ")
    assert [len(decided.findall(text)) for text in argued] == [0, 0, 1, 1]
    assert [text.count("What the judge held to be still open:\n> ") for text in argued] == [0, 0, 1, 1]
    assert ["Answer what the other side said" in text for text in argued] == [False, True, True, True]
    assert ["the last" in text for text in argued] == [False, False, True, True]
    assert ['"settled"' in text and '"open"' in text for text in ruled] == [True, False]
    assert ["your decision is final" in text for text in ruled] == [False, True]
    assert "What the judge decided and said was your own." in ruled[1]
    assert "What the seller's debater said you have said yourself" in argued[2]
    assert all(text.count("# The attached media") == 1 for text in texts)
    assert all(text.count("[image ") == 3 for text in texts)
    assert all("What the buyer asks for:" in text for text in texts)


def test_one_proposed_answer_is_weighed_and_not_chosen(house: Courthouse) -> None:
    texts = {one.task.name: one.text() for one in asked(house, "debate", {"rounds": 3}, bridge(0))}
    assert "Only one answer was proposed. Say what bears it out in the material, and what" in texts["argue"]
    assert '"winner"' not in texts["rule"]
    record = house.record(drive(house, house.new_run("debate", bridge(0), house.procedures["debate"].setup(), 0)))
    assert [stage.name for stage in record.stages] == ["Proposals", "Round 1"]
    assert sum(record.run.verdict.counts.values()) == 1


@pytest.mark.parametrize("procedure", ["council", "debate", "discussion", "mock-jury"])
def test_whoever_decides_a_criminal_trial_is_told_the_standard_of_proof(house: Courthouse, procedure: str) -> None:
    deciding = ("respond", "rank", "conclude", "rule", "speak", "vote")
    case = house.library.case("trial-boatyard-fire")
    texts = [one.text() for one in asked(house, procedure, {}, case) if one.task.name in deciding]
    assert texts
    assert all("only if you are convinced beyond reasonable doubt: after weighing all" in text for text in texts)
    civil = [one.text() for one in asked(house, procedure, {}, house.library.case("trial-bakery-oven"))]
    assert not any("reasonable doubt" in text for text in civil)


@pytest.mark.parametrize("shown", [True, False])
def test_speakers_are_given_pictures_where_the_setup_says_so(house: Courthouse, shown: bool) -> None:
    for one in asked(house, "discussion", {"show_media": shown}, house.library.case("oak-table")):
        assert one.text().count("[image ") == (4 if shown else 0)
        assert ("Pictures and videos are not shown to you" in one.text()) != shown
