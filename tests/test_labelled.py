"""Labelled tasks and documents: how they are read, and what is said of those that can't be."""

import re

import pytest
from pydantic import ValidationError

from courtroom.cases.files import read_upload
from courtroom.cases.labelled import LONGEST, Document, Labelled, LabelledTask
from courtroom.cases.readers.tables import NumberedLabels, names_from, task_from_rows, task_from_text
from courtroom.errors import CaseError
from courtroom.text.table import TableRow


def read(name: str, text: str | bytes) -> LabelledTask | Document:
    (package,) = read_upload(name, text.encode() if isinstance(text, str) else text)
    return package.case


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "text,label\nx,joy\ny,joy\n", "at least 2"),
        ("a.csv", "text,label\n,joy\n", "Left out, line 2: it lacks its text"),
        ("a.csv", "only one column\nx\n", "needs a column"),
        ("a.csv", "", "is empty"),
        ("a.jsonl", '{"text": "", "label": "b"}\n', "Left out, line 1: it lacks its text"),
        ("a.txt", " \n ", "no words"),
        ("a.txt", "long words " * 200_000, f"may have {LONGEST:,}"),
        ("a.txt", b"\xff\xfe\x00", "UTF-8"),
        ("a.pdf", b"not a pdf", "can't be read as PDF"),
    ],
)
def test_what_cannot_be_read_is_said_with_the_files_name(name: str, text: str | bytes, said: str) -> None:
    with pytest.raises(CaseError, match=f"^{name}.*{re.escape(said)}"):
        read(name, text)


@pytest.mark.parametrize("other", ["class", "category", "quality"])
def test_a_blank_label_takes_nothing_from_another_column(other: str) -> None:
    labels = [{"text": "b", "label": "yes", other: "x"}, {"text": "c", "label": "no", other: "y"}]
    rows = [{"text": "a", other: "no"}, *labels]
    table = f"text,label,{other}\na,,no\nb,yes,x\nc,no,y\n"
    as_rows = [TableRow(f"line {number}", row) for number, row in enumerate(rows)]
    for found in (task_from_text(table).fields, task_from_rows(as_rows).fields, task_from_rows(as_rows[::-1]).fields):
        assert {item["text"]: item["label"] for item in found["items"]} == {"a": None, "b": "yes", "c": "no"}
        assert found["labels"] == ["no", "yes"]


@pytest.mark.parametrize("other", ["Yes", "not  so", "NOT SO"])
def test_labels_that_look_alike_are_refused_with_their_rows(other: str) -> None:
    first = "yes" if other == "Yes" else "not so"
    rows = rf"“{other}” \(line 4\) and “{first}” \(line 2\)"
    with pytest.raises(CaseError, match=f"{rows} look alike or mean the same. Write them alike.$"):
        task_from_text(f"text,label\na,{first}\nb,maybe\nc,{other}\n")


def test_a_label_outside_the_set_is_named() -> None:
    items = tuple(Labelled(id=label, text="x", label=label) for label in ("joy", "grief"))
    with pytest.raises(ValueError, match="“grief”, the label of grief, is not in the label set"):
        LabelledTask(id="t", title="T", labels=("joy", "fear"), items=items)
    text = '{"text": "a", "label": NaN}\n{"text": "b", "label": "yes"}\n{"text": "c", "label": "no"}\n'
    assert [item["label"] for item in task_from_text(text).fields["items"]] == [None, "yes", "no"]


def test_a_blind_task_tells_no_label() -> None:
    whole = read("a.csv", "text,label,reason\nso good,joy,because\nso bad,sadness,\n")
    blind = whole.blind()
    assert "because" not in blind.model_dump_json()
    assert {item.label for item in blind.items} == {None}
    assert blind.pool_name == whole.pool_name
    known = [f"{blind.under('joy')}item/1", f"{blind.under('sadness')}item/2"]
    assert [example.id for example in whole.known()] == known
    assert read("a.csv", "text,label\nso good,sadness\nso bad,joy\n").pool_name != whole.pool_name


def test_a_pasted_table_is_a_task() -> None:
    named = read("notes.md", "# The heading\n\nA first sentence. A second one.")
    assert (named.title, named.language) == ("The heading", "en")
    assert read("文.txt", "今天下雨。路很滑。").language == "zh"
    pasted = LabelledTask.made({"id": "mine", "title": "Mine", "items": "text,label\nso good,joy\nso bad,sadness"}, ())
    assert (pasted.id, pasted.title, pasted.labels) == ("mine", "Mine", ("joy", "sadness"))


PAIR = "sentence1\tsentence2\tlabel\tidx\n"


@pytest.mark.parametrize(
    ("name", "text", "numbers"),
    [
        ("RTE.tsv", PAIR + "A.\tB.\t0\t0\nC.\tD.\t1\t1\n", ("0", "1")),
        ("WNLI.tsv", "index\tsentence1\tsentence2\tlabel\n0\tA.\tB.\t1\n1\tC.\tD.\t0\n", ("0", "1")),
        ("MRPC.tsv", "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t1\t2\tA.\tB.\n", ("1",)),
        ("sst2.csv", "sentence,label,idx\nso good,1,0\nso what,-1,1\n", ("1", "-1")),
        ("qqp.jsonl", '{"question1": "A?", "question2": "B?", "is_duplicate": 1}', ("1",)),
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


def test_impossible_labels_and_ids_are_refused() -> None:
    for text in ("0:a", "a=b", "0=", "0=a,0=b", "0=a,1=A"):
        with pytest.raises(CaseError, match=r"Give|two"):
            names_from(text)
    assert Labelled(id="文本-1.a:b", text="A text.").id == "文本-1.a:b"
    for name in ("", "a" * 121, "a b", "a/b"):
        with pytest.raises(ValidationError):
            Labelled(id=name, text="A text.")
