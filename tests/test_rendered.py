"""Prompts as a model is sent them, kept as files that a reviewer reads."""

from collections.abc import Iterator

import pytest

from courtroom.courthouse import Courthouse
from courtroom.procedures import PROCEDURES
from courtroom.settings import Settings
from tests.write_prompts import FOLDER, rendered


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Courthouse]:
    made = Courthouse(Settings(home=tmp_path_factory.mktemp("rendered")))
    yield made
    made.close()


@pytest.mark.parametrize("name", [name for name in PROCEDURES if (FOLDER / f"{name}.txt").exists()])
def test_the_prompts_of_a_sample_are_those_on_file(house: Courthouse, name: str) -> None:
    kept = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert rendered(house, name) == kept, "read the new prompts, then write them by python -m tests.write_prompts"


@pytest.mark.parametrize("name", sorted(file.stem for file in FOLDER.glob("*.txt")))
def test_the_form_of_an_answer_stands_at_the_end_of_each_prompt(name: str) -> None:
    """As in the papers: small models forget what they read first."""
    for prompt in (FOLDER / f"{name}.txt").read_text(encoding="utf-8").split("\n########## "):
        *_, closing, schema = prompt.strip().splitlines()
        assert closing == "Answer with one JSON object and nothing else, its fields in the order of this JSON schema:"
        assert schema.startswith('{"properties": {')


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("cyberjurors", "A refund can be had only where conclusive evidence shows"),  # E.7: a necessary condition
        ("cyberjurors", "however detailed or short the description is"),
        ("cyberjurors", "where the jury stood when it was last summed up"),
        ("juris", "Join sentences where that reads better, and keep their order."),
        ("juris", "and a name that neither they nor the document has"),
        ("verdict", "explain in short how the facts meet its elements: intent, acts, results and severity"),
        (
            "verdict",
            "Reject it where there is a clear reason, and say what to do otherwise; pass it where there is none.",
        ),
        ("verdict-with-memory", "The confidence of a rule, 0 to 1, rises with judgments that it was right in"),
    ],
)
def test_a_prompt_says_what_its_papers_prompt_says(name: str, said: str) -> None:
    assert said in (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
