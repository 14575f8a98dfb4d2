"""What offline members say: sentences of their own about things of the case, each in its manner."""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from statistics import mean, median

import pytest

from courtroom.cases.dispute import Dispute
from courtroom.courthouse import Courthouse
from courtroom.judging import voices
from courtroom.judging.dispute_weights import CUES
from courtroom.models.task import Longest
from courtroom.panel.personas import pool
from courtroom.procedures.cyberjurors.procedure import CYBERJURORS
from courtroom.procedures.cyberjurors.tasks import MOST_REASONS, Opinion
from courtroom.settings import Settings
from tests.driving import drive

LONGEST_REASON = next(
    one.size
    for one in Opinion.model_fields["reasoning"].annotation.__args__[0].__metadata__  # type: ignore[union-attr]
    if isinstance(one, Longest)
)


@dataclass
class Hearing:
    """A sample as 17 jurors heard it: who said what in which round, and how each would vote."""

    case: Dispute
    said: list[tuple[str, str, str]] = field(default_factory=list)
    votes: dict[tuple[str, str], str] = field(default_factory=dict)


@pytest.fixture(scope="module")
def hearings(tmp_path_factory: pytest.TempPathFactory) -> list[Hearing]:
    house = Courthouse(Settings(home=tmp_path_factory.mktemp("voices")))
    found = []
    for one in house.library.cases():
        if one.kind != "dispute":
            continue
        case = house.library.case(one.id)
        assert isinstance(case, Dispute)
        run = drive(house, house.new_run("cyberjurors", case, CYBERJURORS.setup(), 0))
        hearing = Hearing(case)
        for call in house.record(run).calls:
            if call.task == "judge" and call.value is not None:
                hearing.votes[call.stage, call.member] = str(call.value["verdict"])
                hearing.said += [(call.stage, call.member, text) for text in call.value["reasoning"]]  # type: ignore[attr-defined]
        found.append(hearing)
    house.close()
    assert len(found) == 13
    return found


def sentences(reason: str) -> list[str]:
    return [one for one in re.split(r"(?<=[.!?])\s+|(?<=[。！？])", reason) if one]


def test_no_sentence_is_said_by_two_members_of_a_run_nor_twice(hearings: list[Hearing]) -> None:
    for hearing in hearings:
        counts = Counter(sentence for _, _, reason in hearing.said for sentence in sentences(reason))
        assert [text for text, count in counts.items() if count > 1] == [], hearing.case.id


def test_every_reason_quotes_the_case_names_no_id_and_is_short(hearings: list[Hearing]) -> None:
    for hearing in hearings:
        deal, evidence = hearing.case.transaction, hearing.case.evidence
        given = [deal.product, deal.description, *(line.text for line in hearing.case.chat)]
        given += [text for p in evidence for text in (p.text, *(medium.description for medium in p.media))]
        told = "\n".join(given).replace("“", "'").replace("”", "'")
        for _, _, reason in hearing.said:
            quotes = re.findall("“([^”]+)”", reason)
            assert any(quote.rstrip("…") in told for quote in quotes), reason
            assert not re.search(r"\b(?:buyer|seller|juror)-\d|[+-]\d\.\d", reason), reason
        assert max(Counter((stage, member) for stage, member, _ in hearing.said).values()) <= MOST_REASONS
        assert max(len(reason) for _, _, reason in hearing.said) <= LONGEST_REASON


def test_at_most_one_reason_in_ten_begins_like_another_of_its_run(hearings: list[Hearing]) -> None:
    for hearing in hearings:
        counts = Counter(
            # The first three words; in Chinese the first six characters.
            "".join(re.findall(r"\w", reason))[:6]
            if voices._END.search(reason) and re.search("[\u4e00-\u9fff]", reason)
            else " ".join(re.findall(r"[\w'’%-]+", reason.lower())[:3])
            for _, _, reason in hearing.said
        )
        alike = sum(count for count in counts.values() if count > 1)
        assert alike <= len(hearing.said) / 10, (hearing.case.id, counts.most_common(3))


def test_a_change_of_mind_names_the_followed_jurors_that_moved_it(hearings: list[Hearing]) -> None:
    # Who follows nobody of the new side was moved by the majority that the clerk counted.
    names = {*(persona.name for persona in pool()), "the clerk's summary", "书记员汇总的多数"}
    moved = 0
    for hearing in hearings:
        reasons = defaultdict(str)
        for stage, member, reason in hearing.said:
            reasons[stage, member] += reason
        for (stage, member), vote in hearing.votes.items():
            if hearing.votes.get(("round-1", member), vote) != vote:
                moved += 1
                assert any(name in reasons[stage, member] for name in names), reasons[stage, member]
    assert moved > 20


def test_what_others_said_is_taken_up_by_name(hearings: list[Hearing]) -> None:
    names = {persona.name for persona in pool()}
    later = defaultdict(str)
    for hearing in hearings:
        for stage, member, reason in hearing.said:
            if stage != "round-1":
                later[hearing.case.id, stage, member] += reason
    assert sum(any(name in text for name in names) for text in later.values()) > 0.9 * len(later)


@pytest.mark.parametrize("table", [voices.ENGLISH, voices.CHINESE])
def test_every_seat_of_the_largest_panel_has_a_sentence_of_its_own(table: voices.Table) -> None:
    # Chinese has one form for what somebody is and does
    assert voices.ENGLISH.keys() == voices.CHINESE.keys() | {"doer"}
    for name, patterns in table.items():
        assert len(patterns) == len(set(patterns)) == (7 if name.endswith((" ends", " before")) else 8), name
    openings = [one for name, patterns in table.items() if not name.endswith((" ends", " before")) for one in patterns]
    assert len(openings) == len(set(openings))


@pytest.mark.parametrize("table", [voices.MEANS, voices.MEANS_ZH])
def test_every_clue_has_words(table: voices.Table) -> None:
    assert table.keys() == {cue.name for cue in CUES}
    assert {len(meanings) for meanings in table.values()} == {3}


def test_a_background_is_told_in_the_first_person() -> None:
    voice = voices.Voice(Dispute.model_construct(language="en"), "buyer")
    told = {persona.name: voice._me(persona.background)[0] for persona in pool()}
    assert told["Ana Ferreira"] == "I run the returns desk of a department store and have heard every story twice"
    assert told["Sofia Lindqvist"] == "I study psychology and buy nearly everything second-hand"
    assert told["Grace Okafor"] == "an intensive-care nurse and mother of three"
    assert told["Ravi Menon"] == "a contract lawyer"


def test_juries_split_where_the_votes_on_record_do_and_most_talk_for_rounds(hearings: list[Hearing]) -> None:
    real = [hearing.case.jury.buyer for hearing in hearings]  # type: ignore[union-attr]
    votes = []
    for hearing in hearings:
        rounds: dict[str, int] = defaultdict(int)
        for (stage, _), vote in hearing.votes.items():
            rounds[stage] += vote == "buyer"
        votes.append([*rounds.values()])
    assert mean(abs(one[-1] - other) for one, other in zip(votes, real, strict=True)) <= 2.5
    assert sum((one[-1] > 8) == (other > 8) for one, other in zip(votes, real, strict=True)) >= 11
    assert sum(len(one) > 1 for one in votes) >= 8
    assert any(len(set(one)) > 1 for one in votes), "some change their mind"


def test_jurors_lead_with_reasons_of_their_own(hearings: list[Hearing]) -> None:
    leading = []
    for hearing in hearings:
        first: dict[tuple[str, str], str] = {}
        for stage, member, reason in hearing.said:
            first.setdefault((stage, member), reason)
        last = hearing.said[-1][0]
        leading.append(len({reason for (stage, _), reason in first.items() if stage == last}))
    assert median(leading) >= 6
