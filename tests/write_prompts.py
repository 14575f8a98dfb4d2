"""Writes what each procedure asks in one sample case as text files, for a reader: `python -m tests.write_prompts`."""

import tempfile
from pathlib import Path

from courtroom.cases.case import Case
from courtroom.cases.question import Piece
from courtroom.cases.question import asked as asked_case
from courtroom.courthouse import Courthouse
from courtroom.procedures import PROCEDURES
from courtroom.settings import Settings
from tests.asked import Asked, asked

FOLDER = Path(__file__).parent / "rendered"
CHINESE = {f"{procedure}-zh": (procedure, "criminal-night-market") for procedure in ("jurisagents", "verdict")}
"""Files that hold what is asked in a Chinese case."""
QUESTION = asked_case(
    "Should the town close the old bridge to cars?",
    ("Yes", "No", "A pilot of six months"),
    (Piece(text="The bridge carries 900 cars a day. A pilot would cost 40,000.", source="report.txt"),),
)
ASKED = {
    f"{procedure}-{name}": (procedure, case)
    for procedure in ("discussion", "debate", "mock-jury")
    for name, case in (("question", QUESTION), ("open", QUESTION.model_copy(update={"options": ()})))
}
"""Files that hold what is asked about a question, with options and without."""


def rendered(house: Courthouse, procedure: str, case: Case | None = None) -> str:
    """Each task as it is asked first and, where it is asked again and again, as it is asked last."""
    first: dict[str, Asked] = {}
    last: dict[str, Asked] = {}
    for one in asked(house, procedure, case=case):
        first.setdefault(one.task.name, one)
        last[one.task.name] = one
    texts = []
    for name, one in first.items():
        texts.append(f"########## {one.task.title} ({name})\n{one.text()}")
        if last[name].text() != one.text():
            texts.append(f"########## {one.task.title} ({name}), as it is asked last\n{last[name].text()}")
    return "\n".join(texts)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        house = Courthouse(Settings(home=Path(home)))
        for procedure in PROCEDURES:
            (FOLDER / f"{procedure}.txt").write_text(rendered(house, procedure), encoding="utf-8")
        for name, (procedure, case) in CHINESE.items():
            (FOLDER / f"{name}.txt").write_text(rendered(house, procedure, house.library.case(case)), encoding="utf-8")
        for name, (procedure, question) in ASKED.items():
            (FOLDER / f"{name}.txt").write_text(rendered(house, procedure, question), encoding="utf-8")
        house.close()


if __name__ == "__main__":
    main()
