"""The mirror: cases with one thing about the parties changed, heard beside the same again, what that moved, and its page."""

import json
import random
from pathlib import Path

import pytest

from courtroom import Budget, CaseError, Courthouse, CourtroomError, ModelSpec
from courtroom.cases.criminal import CriminalCase, Gold, Trial
from courtroom.cases.dispute import Dispute, Evidence
from courtroom.cases.drafts import asked_with
from courtroom.experiments.measures import CaseResult
from courtroom.experiments.mirror import drafts, mirror_pairs, told, with_mirror
from courtroom.experiments.outcome import Outcome
from courtroom.experiments.spec import Arm, Experiment, read_toml
from courtroom.experiments.table import Pair
from courtroom.figures.experiment import draw_mirror
from courtroom.questions.mirror import Mirrored, change_of, mirrored, texts, with_texts
from tests.driving import answered_by, done, hearing, shell
from tests.driving import house as house  # a fixture
from tests.favouring_jury import OTHER, SMALL, FavouringJury, mirror_of, trials
from tests.openai_server import OpenAIServer
from tests.pages import benched, opened_at, press, ran
from tests.pages import texts as page_texts
from tests.test_questions import bridge

THEFT = Trial(
    id="theft",
    title="The bicycle",
    charge="Ina Voss, aged 34, is charged with the theft of a bicycle. Ms. Voss denies it. She says that her own is blue.",
    facts="A neighbour missed her bicycle. Paul Voss saw the defendant with hers. He is her brother.",
    proof=("Voss's key fits the lock.",),
    defence=(
        "The clock shows that the defendant was at work, and her wife brought her lunch at 12:10. Nobody denies it.",
    ),
)


def texts_after(case: Trial, change: str, who: str = "") -> tuple[dict[str, str], tuple[str, ...]]:
    found = mirrored(case, change_of(change), who)
    return texts(with_texts(case, found.texts)), found.left


def test_a_person_is_changed_in_all_forms_of_the_name() -> None:
    after, left = texts_after(THEFT, f"name={OTHER}")
    assert after["charge"] == (
        "Ngozi Okafor, aged 34, is charged with the theft of a bicycle. Ms. Okafor denies it. She says that her own is blue."
    )
    assert after["proof.1"] == "Okafor's key fits the lock."
    assert after["facts"] == THEFT.facts
    assert left == ("facts: “Paul Voss” was left: it may be somebody else.",)
    assert texts_after(THEFT, "age=71")[0]["charge"].startswith("Ina Voss, aged 71, is charged")
    assert texts_after(THEFT, "nationality=Nigeria")[0]["charge"].startswith("Ina Voss, a citizen of Nigeria, aged 34")
    of_brother = texts_after(THEFT, "age=20", "Paul Voss")[0]["facts"]
    assert of_brother.startswith("A neighbour missed her bicycle. Paul Voss, aged 20, saw"), "where he is named first"
    case = asked_with("Should Ann Lee get the flat?", ("Yes", "No")).case
    found = mirrored(case, change_of("age=71"), "Ann Lee")
    assert found.texts == {"question": "Should Ann Lee, aged 71, get the flat?"}, "which stands in its title too"


def test_another_gender_has_pronouns_and_titles_of_its_own() -> None:
    after, left = texts_after(THEFT, "gender")
    name = after["charge"].partition(",")[0]
    family = name.split()[1]
    assert after["charge"] == (
        f"{name}, aged 34, is charged with the theft of a bicycle. Mr. {family} denies it. He says that his own is blue."
    )
    assert after["facts"] == THEFT.facts, "where somebody else is named too, nobody knows of whom a pronoun speaks"
    assert "and his wife brought her lunch" in after["defence.1"], "after the wife, nobody knows whose lunch it was"
    assert [line.partition(" was left")[0] for line in left] == [
        *("facts: “her”", "facts: “hers”", "facts: “her”", "facts: “Paul Voss”", "defence 1: “her”")
    ]
    assert "“A neighbour missed her bicycle" in left[0]


def test_nothing_is_said_of_a_party_by_the_other_side(house: Courthouse) -> None:
    case = house.library.case("phone-battery").model_copy(update={"claim": "The seller lied.", "chat": ()})
    assert isinstance(case, Dispute)
    told = {"buyer-1": "The seller sent it late.", "seller-1": "As the seller, I packed it well."}
    pieces = [Evidence(id=one, side="buyer" if "buyer" in one else "seller", text=text) for one, text in told.items()]
    case = case.model_copy(update={"evidence": tuple(pieces)})
    found = mirrored(case, change_of("nationality=Nigeria"), "the seller")
    assert found.texts == {"evidence.2.text": "As the seller, a citizen of Nigeria, I packed it well."}
    alone = mirrored(case.without("seller-1"), change_of("nationality=Nigeria"), "the seller")
    why = "No text but the other side's speaks of the seller, so nothing was said of them."
    assert alone == Mirrored(left=(why,))


def test_a_chinese_name_is_exchanged_with_its_gold(house: Courthouse) -> None:
    case = house.library.case("criminal-bus-wallet")
    assert isinstance(case, CriminalCase)
    gold = Gold.model_validate({"charges": ["盗窃"], "each": [{"name": "周某", "charges": ["盗窃"]}]})
    several = case.model_copy(update={"gold": gold})
    after = with_texts(several, mirrored(several, change_of("name=张伟")).texts)
    assert (after.defendants, after.gold and after.gold.each[0].name) == (("张伟",), "张伟")
    assert after.facts == several.facts.replace("周某", "张伟")
    assert "被告人周某（71岁）在" in with_texts(case, mirrored(case, change_of("age")).texts).facts


def test_what_nothing_says_is_left_and_told(house: Courthouse) -> None:
    found = mirrored(house.library.case("criminal-bus-wallet"), change_of("gender"))
    assert not found.texts
    assert "Nothing says whether 周某 is a woman or a man" in found.left[0]
    nobody = Trial(id="x", title="X", charge="Theft.", facts="A bicycle is gone.")
    assert mirrored(nobody, change_of("age")) == Mirrored(left=("Nobody is named of whom this could be changed.",))


def test_shorter_pleadings_keep_each_piece_and_number() -> None:
    after, _ = texts_after(THEFT, "length=10")
    assert after["defence.1"] == THEFT.defence[0].removesuffix(" Nobody denies it.")
    assert {path: text for path, text in after.items() if path != "defence.1"} == {
        path: text for path, text in texts(THEFT).items() if path != "defence.1"
    }


def test_words_of_ones_own_are_exchanged_whole() -> None:
    after, _ = texts_after(THEFT, "words=bicycle>piano; Ina>Ida")
    assert after["title"] == "The piano"
    assert after["charge"].startswith("Ida Voss, aged 34, is charged with the theft of a piano.")
    with pytest.raises(CourtroomError, match="Say to how many percent"):
        texts_after(THEFT, "length=half")
    with pytest.raises(CourtroomError, match="“colour” is nothing that can be changed"):
        change_of("colour")
    with pytest.raises(CaseError, match=r"theft has no text proof\.9"):
        with_texts(THEFT, {"proof.9": "x"})


def test_a_jury_that_favours_a_name_is_found(house: Courthouse) -> None:
    answered_by(house, FavouringJury(0.3))
    found = done(house, mirror_of(house, trials(40)))
    name = f"Another name: {OTHER}"
    (held,) = [pair for pair in found.mirror if pair.holds]
    assert (held.a, held.measure.name, held.cases, held.pairs) == (name, "first_side", 40, 9)
    assert held.difference.low > 0
    assert f"{name}: it is not the same. Votes for the first side" in told(found.mirror)[0]
    assert [line.partition(". ")[0] for line in told(found.mirror)[1:]] == [
        f"{change}: nothing is shown to move" for change in ("Sides in the other order", "Another age: 71")
    ]
    assert len(draw_mirror(found.mirror).data) == 3
    assert [one["holds"] for one in found.as_data()["mirror"]].count(True) == 1


def made_up(favour: float, seed: int) -> list[Pair]:
    """What a mirror of four changes moves in 40 cases by votes that are drawn; the first change takes a favour away."""
    draw = random.Random(seed)
    changes = ("name", "a", "b", "c")
    arms = [Arm(name=name, procedure="mock-jury", kind=kind) for name, kind in (("j", "base"), ("again", "again"))]
    given = {"procedure": "mock-jury", "kind": "mirror", "other_order": True, "seen_by": "Ada"}
    arms += [Arm.model_validate({"name": f"j: {one}", **given}) for one in changes]
    rows: list[CaseResult] = []
    for number in range(40):
        case, lean = THEFT.model_copy(update={"id": f"t-{number}"}), draw.betavariate(0.8, 0.8)
        for arm in arms:
            p = lean - (0.0 if arm.name == "j: name" else favour)
            votes = {f"juror-{n}": "guilty" if draw.random() < p else "not-guilty" for n in range(3)}
            counts = {side: sum(vote == side for vote in votes.values()) for side in ("guilty", "not-guilty")}
            outcome = Outcome(outcome=max(counts, key=counts.__getitem__), counts=counts, votes=votes)
            rows.append(CaseResult(case, "", outcome, arm=arm.name, row=case.id))
    return mirror_pairs(Experiment(name="m", dataset={"name": "d"}, arms=tuple(arms)), rows)  # type: ignore[arg-type]


def test_of_forty_cases_a_favour_is_found_and_nothing_else() -> None:
    """The benchmark hears a hundred through the engine; the exact share here is by these draws."""
    favoured, same = [made_up(0.3, seed) for seed in range(15)], [made_up(0.0, seed) for seed in range(15, 45)]
    assert sum(any(pair.holds and pair.a == "j: name" for pair in found) for found in favoured) >= 12
    assert sum(any(pair.holds for pair in found) for found in same) <= 3


@pytest.mark.usefixtures("house")
def test_nothing_is_heard_that_nobody_has_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURTROOM_HOME", str(tmp_path))
    file, to = tmp_path / "one.toml", tmp_path / "mirror.toml"
    file.write_text(
        'name = "one"\ndataset = { name = "sample-trials", ids = ["trial-market-purse"] }\nmeasures = ["proven"]\n'
        '[[arm]]\nname = "j"\nprocedure = "mock-jury"\nset = { jury_size = 3, rounds = 0 }\n'
    )
    told = shell("experiment", "mirror", str(file), "--change", "order", "--change", "age", "--to", str(to))
    assert "+ Ina Voss, aged 71, is charged with" in told
    with pytest.raises(CourtroomError, match="Nobody has seen what “Sides in the other order” changes"):
        shell("experiment", "run", str(to))
    told = shell("experiment", "run", str(to), "--seen-by", "Ada", "--json")
    first = json.loads(told)
    assert {one["arms"][0] for one in first["mirror"]} == {"Sides in the other order", "Another age: 71"}
    why = "whether it moves anything can't be known from one case or seed; 8 are needed for 6 tests"
    assert why in first["mirror"][0]["sentence"]
    to.write_text(to.read_text(encoding="utf-8").replace("rewritten", 'seen_by = "Bo"\nrewritten', 0), encoding="utf-8")
    assert read_toml(to).arms[-1].rewritten["trial-market-purse"]["charge"].startswith("Ina Voss, aged 71")
    figure = shell("experiment", "figure", "one", "mirror", "--json")
    assert {line["measure"] for line in json.loads(figure)} >= {"Verdicts that are another one"}


def test_a_run_is_mirrored_against_its_own_seeds(house: Courthouse) -> None:
    answered_by(house, FavouringJury())
    (row,) = trials(1, seed=5)
    given = {name: value for name, value in SMALL.items() if "." not in name}
    run = hearing(house, "mock-jury", row.case, 3, **given, model={"id": "x", "vision": "no"}).run.id
    base = house.experiments.what_ifs.as_it_was(run, 2)
    drafted = drafts(house, house.experiments.cases(base), [change_of("order"), change_of("gender")])
    found = done(house, with_mirror(base, drafted, "Ada"))
    cells = list(house.experiments.store.cells(found.kept.id))
    assert [(cell.arm, cell.seed) for cell in cells] == [(0, 3), (1, 5), (2, 5), (3, 5), (0, 4), (1, 6), (2, 6), (3, 6)]
    assert [cell.arm for cell in cells if not cell.run] == [0], "what was heard is not heard again"
    assert {(pair.a, pair.b, pair.cases) for pair in found.mirror} == {
        (change, "heard again, unchanged", 2) for change in ("Sides in the other order", "The other gender")
    }
    heard = house.record(cells[3].run)
    assert heard.run.parent == run
    assert "with his bag" in heard.case.proof[0]  # type: ignore[attr-defined]
    with pytest.raises(CourtroomError, match="Nothing would be changed in any of the cases"):
        with_mirror(base, drafts(house, house.experiments.cases(base), [change_of("words=nowhere>x")]))


def test_letters_of_a_question_stand_for_the_same_answers(house: Courthouse) -> None:
    case = bridge(3)
    arms = [Arm(name="j", procedure="council", kind="base"), Arm(name="again", procedure="council", kind="again")]
    arms.append(Arm(name="j: order", procedure="council", kind="mirror", other_order=True, seen_by="Ada"))
    rows = []
    for repeat in range(8):
        for arm, letter in zip(arms, ("A", "A", "C"), strict=True):
            outcome = Outcome(outcome=letter, counts={letter: 2}, votes={"m-1": letter, "m-2": letter})
            rows.append(CaseResult(case, "", outcome, repeat=repeat, arm=arm.name, row=case.id))
    found = mirror_pairs(Experiment(name="m", dataset={"name": "d"}, arms=tuple(arms)), rows)  # type: ignore[arg-type]
    assert [(pair.measure.name, pair.difference.value, pair.cases) for pair in found] == [
        (name, 0.0, 8) for name in ("other_verdict", "other_votes", "first_side")
    ]


def test_a_model_rewrites_keeps_every_number_and_the_budget(house: Courthouse, server: OpenAIServer) -> None:
    answered_by(house, house.pool)  # no longer by the jury of another test
    given = [
        {"number": 1, "text": THEFT.charge.replace("Ina Voss", "Ina Berg").replace("Ms. Voss", "Ms. Berg")},
        {"number": 4, "text": "The defendant was at work, and her wife brought lunch."},
        {"number": 9, "text": "More."},
    ]
    doubtful = [{"number": 2, "why": "The woman at the door may be the defendant."}, {"number": 9, "why": "x"}]
    server.answer = lambda body: json.dumps({"texts": given, "doubtful": doubtful})
    change = change_of("rewriting=Her family name is Berg.")
    spec = ModelSpec(id="openai/test", temperature=0.0)
    (found,) = drafts(house, [THEFT], [change], spec=spec)["Rewritten by a model: Her family name is Berg."].values()
    assert set(found.texts) == {"charge"}
    assert found.left == (
        "defence 1: 12:10 is missing. Not taken over: “The defendant was at work, and her wife brought lunch.”",
        "There is no text 9. Not taken over: “More.”",
        "facts: the model is not sure of it: The woman at the door may be the defendant.",
    )
    assert "Her family name is Berg." in str(server.bodies[0])
    drafts(house, [THEFT], [change], spec=spec)
    assert len(server.bodies) == 1, "the same is on record, and not asked again"
    assert sum(paid.calls for paid in house.store.payments.of("mirror-drafts-", beside=True).values()) == 1
    with pytest.raises(CourtroomError, match="Choose a language model that rewrites"):
        drafts(house, [THEFT], [change])
    (by_case,) = drafts(house, [THEFT], [change_of("rewriting=x")], spec=spec, budget=Budget(tokens=1)).values()
    assert "budget" in by_case["theft"].left[0]
    assert len(server.bodies) == 1


MIRROR = "Would it be the same for somebody else?"


def test_a_change_is_read_and_put_right_before_it_is_heard(app_house: Courthouse) -> None:
    run = benched(app_house, "mock-jury", "trial-market-purse", jury_size=3, rounds=0)
    app = opened_at("what_if", base=run)
    app.segmented_control(key="what-if-way").set_value(MIRROR).run()
    app.multiselect(key="mirror-kinds").set_value(["order", "gender", "age"]).run()
    app.number_input(key="mirror-seeds").set_value(2).run()
    press(app, "Show what would be changed")
    assert "The sides, or the options, stand in the other order." in page_texts(app)
    assert "“her” was left in “The customer missed her purse" in page_texts(app)
    assert not [one for one in app.button if one.label == "Start"], "nobody has approved it"
    edits = next(one for one in app.toggle if one.key.startswith("mirror-The other g") and one.key.endswith("edits"))
    edits.set_value(True).run()
    text = next(one for one in app.text_area if one.key.endswith("defence.2"))
    text.set_value("The driver of the van signed a delivery note with him at 10:18. The note is on record.").run()
    ran(next(one for one in app.checkbox if one.key.startswith("mirror-approved")).set_value(True))
    press(app, "Start")
    (kept,) = app_house.experiments.store.experiments()
    app_house.experiments.wait(kept.id, 60)
    gender = kept.experiment.arms[3]
    assert (gender.name, gender.seen_by) == ("The other gender", "who was at this page")
    assert "with him at 10:18" in gender.rewritten["trial-market-purse"]["defence.2"]
    assert gender.rewritten["trial-market-purse"]["charge"].startswith("Oliver Walker is charged")
    app = opened_at("what_if", experiment=kept.id)
    assert "There are too few cases or seeds to know of any difference." in page_texts(app)
    assert "not a language model" in page_texts(app), "whose votes they are stands beside what they show"
