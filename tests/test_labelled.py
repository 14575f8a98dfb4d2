"""Labelled tasks and documents: how they are read, and what is said of those that can't be."""

import re

import pytest

from courtroom.cases.files import read_upload
from courtroom.cases.labelled import LONGEST, Document, LabelledTask
from courtroom.cases.readers.tables import NumberedLabels
from courtroom.errors import CaseError


def read(name: str, text: str | bytes) -> LabelledTask | Document:
    (package,) = read_upload(name, text.encode() if isinstance(text, str) else text)
    return package.case


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "text,label\nx,joy\ny,joy\n", "at least 2"),
        ("a.csv", "text,label\n,joy\n", "Left out, line 2: it lacks its text"),
        ("a.txt", " \n ", "no words"),
        ("a.txt", "long words " * 200_000, f"may have {LONGEST:,}"),
        ("a.pdf", b"not a pdf", "can't be read as PDF"),
    ],
)
def test_what_cannot_be_read_is_said_with_the_files_name(name: str, text: str | bytes, said: str) -> None:
    with pytest.raises(CaseError, match=f"^{name}.*{re.escape(said)}"):
        read(name, text)


def test_a_blind_task_tells_no_label() -> None:
    whole = read("a.csv", "text,label,reason\nso good,joy,because\nso bad,sadness,\n")
    blind = whole.blind()
    assert "because" not in blind.model_dump_json()
    assert {item.label for item in blind.items} == {None}
    assert blind.pool_name == whole.pool_name
    known = [f"{blind.under('joy')}item/1", f"{blind.under('sadness')}item/2"]
    assert [example.id for example in whole.known()] == known
    assert read("a.csv", "text,label\nso good,sadness\nso bad,joy\n").pool_name != whole.pool_name


PAIR = "sentence1\tsentence2\tlabel\tidx\n"


@pytest.mark.parametrize(
    ("name", "text", "numbers"),
    [
        ("RTE.tsv", PAIR + "A.\tB.\t0\t0\nC.\tD.\t1\t1\n", ("0", "1")),
        ("MRPC.tsv", "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t1\t2\tA.\tB.\n", ("1",)),
        ("sst2.csv", "sentence,label,idx\nso good,1,0\nso what,-1,1\n", ("1", "-1")),
        ("three.json", '[{"text": "x", "label": 2}, {"text": "y", "label": 10.0}]', ("2", "10")),
    ],
)
def test_numbers_are_no_labels_until_they_are_named(name: str, text: str, numbers: tuple[str, ...]) -> None:
    with pytest.raises(NumberedLabels, match=rf"^{name}: The labels are numbers \(") as asked:
        read(name, text)
    assert asked.value.values == numbers


def test_columns_pose_the_question_of_their_labels() -> None:
    def question(names: dict[str, str]) -> str:
        (package,) = read_upload("p.tsv", (PAIR + "A.\tB.\t0\t0\nC.\tD.\t1\t1\n").encode(), names)
        return package.case.question

    assert "follow" in question({"0": "entailment", "1": "not_entailment"})
    assert "mean the same" in question({"0": "not_equivalent", "1": "equivalent"})
    assert question({"0": "red", "1": "blue"}) == ""
