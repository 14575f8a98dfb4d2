"""What is invented is called invented, only what people decided is real, and what ends a run is called what it is."""

import re

import pytest
from pydantic import ValidationError

from courtroom import report
from courtroom.cases.dispute import Dispute
from courtroom.courthouse import Courthouse
from courtroom.procedures import PROCEDURES
from courtroom.room import scene
from tests.benchmarks.fit_votes import training
from tests.benchmarks.measure_votes import held_out
from tests.docs import ROOT
from tests.driving import house
from tests.pages import benched, page, texts
from tests.pages import house as pages_house

__all__ = ["house", "pages_house"]  # fixtures
CALLED_REAL = re.compile(r"real (?:jury|juries|jurors?|votes?)\b|真实(?:陪审|投票|票)", re.IGNORECASE)


def test_every_sample_says_that_its_votes_and_judgments_are_invented(house: Courthouse) -> None:
    decided = [case.real for case in house.library.cases() if case.kind in ("dispute", "criminal")]
    assert len(decided) == 28
    assert {text.partition(" · ")[0] for text in decided} == {"Invented votes", "Invented judgment"}


def test_only_people_with_a_source_make_a_jury_or_a_judgment_real(house: Courthouse) -> None:
    data = house.library.case("phone-battery").model_dump() | {"fictional": False, "source": ""}
    assert Dispute.model_validate(data).votes_title == "Votes on record"
    people = {**data, "decided_by": "people", "source": "A platform's public records, 2024"}
    assert Dispute.model_validate(people).real_outcome().startswith("The real jury · ● buyer 16")
    assert Dispute.model_validate(data | {"decided_by": "predicted"}).votes_title == "Predicted votes"
    for without in ({"source": " "}, {"fictional": True}):
        with pytest.raises(ValidationError, match="has a source, and is not fictional"):
            Dispute.model_validate(people | without)
    public = house.library.case("criminal-bus-wallet").model_copy(update={"fictional": False})
    assert public.real_outcome().startswith("Judgment on record · ")
    assert public.model_copy(update={"decided_by": "people"}).real_outcome().startswith("Real judgment · ")


def test_no_page_export_or_document_calls_votes_real_but_those_of_people() -> None:
    files = [ROOT / "README.md", ROOT / "CHANGELOG.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("data/**/*.toml")]
    files += [path for folder in ("courtroom", "pages") for path in (ROOT / folder).rglob("*") if path.is_file()]
    said = {
        (path.relative_to(ROOT).as_posix(), found[0])
        for path in files
        if path.suffix in (".py", ".md", ".toml", ".js", ".j2", ".po", ".html")
        for found in CALLED_REAL.finditer(path.read_text("utf-8"))
    }
    allowed = {"courtroom/cases/case.py", "courtroom/language/locale/zh/LC_MESSAGES/courtroom.po"}
    assert {path for path, _ in said} == allowed, said
    assert len(said) == 3, "the title, and its translation"


def test_held_out_disputes_are_in_both_languages_with_invented_votes_and_tuning_reads_none(house: Courthouse) -> None:
    cases = held_out()
    assert [case.language for case in cases] == ["en"] * 6 + ["zh"] * 6
    assert all(case.fictional and case.votes_title == "Invented votes" for case in (*cases, *training()))
    samples = [house.library.case(listed.id) for listed in house.library.cases()]
    assert not {case.title for case in (*samples, *training())} & {case.title for case in cases}


@pytest.mark.parametrize(
    ("name", "ending"),
    [("cyberjurors", "Verdict"), ("debate", "Verdict"), ("juris", "Summary"), ("courtroom-llm", "Label")]
    + [("verdict", "Judgment"), ("jurisagents", "Judgment"), ("distillation", "Norms"), ("alignment", "Training data")],
)
def test_each_procedure_says_what_it_ends_with(name: str, ending: str) -> None:
    procedure = PROCEDURES[name]
    assert procedure.ending.title == ending
    assert ending.casefold() in procedure.ending.what_if
    if ending != "Verdict":
        assert "verdict" not in " ".join(vars(procedure.ending).values()).casefold()


def test_pages_report_and_room_call_a_summary_a_summary(pages_house: Courthouse) -> None:
    run = benched(pages_house, "juris", "news-night-bus", variant="generator-a", assess="none")
    app = page("deliberation", {"run": run})
    captions = {one.value for one in app.caption}
    assert {"Summary", "Text"} <= captions
    assert not {"Verdict", "What is on record of its outcome"} & captions
    assert "What would change this summary?" in [button.label for button in app.button]
    record, procedure = pages_house.record(run), pages_house.procedures["juris"]
    assert scene(record, procedure).ending == "Summary"
    assert "Verdict:" not in report.as_html(record, procedure, pages_house.answers, pages_house.media)
    assert "Outcome" in texts(page("runs"))
