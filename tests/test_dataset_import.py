"""Datasets as they come, in published forms, packed and in folders; what is wrong is named and the rest goes on; kills lose nothing."""

import gzip
import io
import json
import os
import re
import shutil
import signal
import zipfile
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pyarrow as pa
import pytest

from courtroom import Courthouse, CourtroomError
from courtroom.datasets.draft import CHUNK_ROWS
from courtroom.datasets.importing import Order
from courtroom.datasets.selection import Selection
from tests import driving
from tests.attacks.test_files import parquet
from tests.desk import Desk
from tests.docs import ROOT
from tests.driving import hearing
from tests.real import FOLDER, needs_real_data

FORMS = json.loads((Path(__file__).parent / "inputs/forms.json").read_text(encoding="utf-8"))
"""Records of published forms, and what is read from them."""
ROWS = [{"text": f"text {n}", "label": "joy" if n % 2 else "fear"} for n in range(6)]


def fact(number: int) -> dict[str, Any]:
    term = {"death_penalty": False, "life_imprisonment": False, "imprisonment": number % 36}
    known = {"relevant_articles": [264], "accusation": ["盗窃"], "punish_of_money": number, "criminals": ["张某"]}
    meta = {**known, "term_of_imprisonment": term}
    return {"fact": f"被告人张某第{number}次在商场内窃得他人手机一部。", "meta": meta}


def table(names: list[str] | None = None) -> pa.Table:
    """Labelled texts with numbers for labels; with names, as the library `datasets` writes them."""
    made = pa.table({"text": [row["text"] for row in ROWS], "label": pa.array([n % 2 for n in range(6)])})
    if names is None:
        return made
    features = {"text": {"dtype": "string", "_type": "Value"}, "label": {"names": names, "_type": "ClassLabel"}}
    return made.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})


def texts(desk: Desk, name: str = "set") -> list[tuple[str, str | None]]:
    return [(row.case.items[0].text, row.case.items[0].label) for row in desk.rows(name)]


EXPECTED = [(row["text"], row["label"]) for row in ROWS]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS)
MANY = "".join(
    json.dumps({"text": sha256(b"%d" % n).hexdigest(), "label": "ab"[n % 2]}) + "\n" for n in range(6 * CHUNK_ROWS)
)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", LINES),
        ("a.jsonl", "\ufeff" + LINES.replace("\n", "\r\n\n")),
        ("a.json", json.dumps(ROWS)),
        ("a.json", json.dumps({"rows": [{"row_idx": 0, "row": row, "truncated_cells": []} for row in ROWS]})),
        ("a.csv", "text,label\n" + "".join(f'"{row["text"]}",{row["label"]}\n' for row in ROWS)),
        ("a.csv", "label;text\n" + "".join(f"{row['label']};{row['text']}\n" for row in ROWS)),
        ("a.tsv", "Text\tLabel\n" + "".join(f"{row['text']}\t{row['label']}\n" for row in ROWS)),
        ("a.jsonl.gz", gzip.compress(LINES.encode(), mtime=0)),
        ("a.parquet", parquet(table(["fear", "joy"]))),
    ],
)
def test_every_file_form_gives_the_same_rows(desk: Desk, name: str, content: Any) -> None:
    done = desk.take(desk.write(name, content))
    assert (done.taken, done.refused) == (6, 0)
    assert texts(desk) == EXPECTED
    assert [row.number for row in desk.rows()] == list(range(6))


def test_one_of_several_datasets_in_a_folder_is_chosen(desk: Desk) -> None:
    pairs = pa.table({"sentence1": ["A.", "B."], "sentence2": ["C.", "D."], "label": [0, -1], "idx": [0, 1]})
    desk.write("README.md", FORMS["card of several"])
    for path in ("rte/train", "rte/validation", "wnli/train"):
        desk.write(f"{path}-00000-of-00001.parquet", parquet(pairs))
    with pytest.raises(CourtroomError, match="several datasets: rte, wnli. Say which with --config"):
        desk.take()
    rte = desk.take(config="rte", name="rte")
    wnli = desk.take(config="wnli", name="wnli")
    desk.take(desk.folder / "wnli", name="alone")
    assert (rte.info.splits, wnli.info.splits) == ({"train": 2, "validation": 2}, {"train": 2})
    assert [label for _, label in texts(desk, "rte")] == ["entailment", None, "entailment", None]
    assert [label for name in ("wnli", "alone") for _, label in texts(desk, name)] == ["not_entailment", None] * 2
    assert desk.rows("wnli")[0].case.labels == ("not_entailment", "entailment")
    assert [row.id for row in desk.rows("rte")] == ["train-0", "train-1", "validation-0", "validation-1"]


B, C = {"text": "b", "label": "yes"}, {"text": "c", "label": "no"}


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("x.csv", "text,label,class\na,,sports\nb,yes,no\nc,no,yes\n", 2),
        ("x.jsonl", [B | {"category": "no"}, {"text": "a", "category": "sports"}, C | {"category": "yes"}], 2),
    ],
)
def test_a_blank_label_stays_blank_whatever_other_columns_hold(desk: Desk, name: str, content: str, place: int) -> None:
    done = desk.take(desk.write(name, content))
    assert dict(texts(desk)) == {"a": None, "b": "yes", "c": "no"}
    assert (done.counts.blank, done.counts.label, done.counts.blanks) == (1, "label", (f"{name}, line {place}",))
    assert any(line.startswith("1 rows have no known outcome (x.") for line in done.counts.sentences())


def doubtful(desk: Desk) -> Path:
    rows = [
        ("one good text about rivers and lakes", "yes"),
        ("One good text, about rivers and lakes!", "yes"),  # repeats the first
        ("a second text about mountains", "yes"),
        ("a second text about mountains", "no"),  # contradicts it
        ("a third text about the sea", ""),
        ("a third text about the sea", "no"),  # has the outcome that the row before lacks
        ("one good text about rivers and lakes, too", "no"),  # nearly the first
        ("", "no"),
        ("", "yes"),
    ]
    return desk.write("x.csv", "text,label\n" + "".join(f'"{text}",{label}\n' for text, label in rows))


def test_each_bad_record_is_named_by_file_and_line(desk: Desk) -> None:
    lines = [json.dumps(fact(n), ensure_ascii=False) for n in range(6)]
    lines[1] = '{"fact": "cut'
    lines[2] = json.dumps({**fact(2), "fact": ""})
    lines[3] = json.dumps({"fact": "x", "meta": {**fact(3)["meta"], "relevant_articles": [999]}})
    lines[4] = "[1, 2]"
    done = desk.take(desk.write("cail.jsonl", "\n".join(lines).encode() + b'\n{"fact": "\xff"}\n'))
    assert (done.taken, done.refused) == (2, 5)
    told = [str(problem) for problem in done.problems]
    assert [one.partition(":")[0] for one in told] == [f"cail.jsonl, line {n}" for n in (2, 3, 4, 5, 7)]
    wrong = ("not valid JSON", "`fact`", "`relevant_articles`", "no object", "not UTF-8")
    assert all(said in one for said, one in zip(wrong, told, strict=True))
    assert [row.number for row in desk.rows()] == [0, 5]
    assert [str(problem) for problem in desk.datasets.problems("set")] == told
    assert desk.datasets.refused("set") == 5


@pytest.mark.parametrize(
    ("name", "content", "taken", "said"),
    [
        ("a.json", json.dumps(ROWS)[:-20], 5, "a.json, entry 6: from here on the file is not valid JSON"),
        ("a.csv", "text,label\na,joy\nb,fear,more\nc,fear\n", 2, "line 3: it has 3 cells, and the first line has 2"),
        ("a.csv", b"text,label\n\xc3\xa9\xc3\xa9,joy\n\xff,fear\nc,fear\n", 2, "a.csv, line 3: it is not UTF-8"),
        ("a.jsonl.gz", gzip.compress(MANY.encode(), mtime=0)[:-400], 0, "damaged or cut off"),
    ],
)  # fmt: skip
def test_damaged_files_keep_what_can_be_read(desk: Desk, name: str, content: Any, taken: int, said: str) -> None:
    done = desk.take(desk.write(name, content))
    assert done.taken == taken or (not taken and done.taken > CHUNK_ROWS)
    assert said in str(done.problems[0])


def damaged_card() -> bytes:
    """A zip whose card does not unpack, beside rows that do."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("README.md", "---\nlicense: mit\n---\n" + MANY)
        archive.writestr("a.csv", "text,label\na,joy\nb,fear\n")
    data = bytearray(packed.getvalue())
    data[60:70] = b"\xff" * 10
    return bytes(data)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", "", "holds no records"),
        ("a.zip", damaged_card(), "README.md in a.zip can't be read"),
        ("a.jsonl", '{"colour": "red"}\n', "its fields (`colour`) are of no form that is known"),
        ("a.csv", "text,label\na,fear\n", "fewer than two labels"),
        ("a.csv", "text,label\na,so\nb,no\nc,So\n", "“So” (a.csv, line 4) and “so” (a.csv, line 2) look alike"),
    ],
)
def test_a_source_without_any_record_is_refused_in_words(desk: Desk, name: str, content: Any, said: str) -> None:
    with pytest.raises(CourtroomError) as refused:
        desk.take(desk.write(name, content))
    assert said in str(refused.value)
    assert desk.datasets.newest() == []
    assert desk.datasets.pending() == []


def records(desk: Desk, count: int) -> Path:
    """The last hundred repeat the first."""
    return desk.write("cail.jsonl", [fact(n % (count - 100)) for n in range(count)])


def die(last: int, taken: int, *_: float) -> None:
    """A progress at which the process dies once so many rows are in."""
    if taken >= last:
        os.kill(os.getpid(), signal.SIGKILL)


def test_an_import_killed_in_any_chunk_loses_nothing(desk: Desk) -> None:
    count = 4 * CHUNK_ROWS + 33
    order = Order(source=str(records(desk, count)), name="set")
    for number in (1, 2, 3):
        desk.database.close()
        if not (child := os.fork()):
            try:
                desk.run(order, partial(die, number * CHUNK_ROWS))
            finally:
                os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        assert [job.taken for job in desk.datasets.pending()] == [number * CHUNK_ROWS]
    done = desk.run(order)
    assert (done.taken, done.info.count) == (count, count)
    assert [row.number for row in desk.rows()] == list(range(count))
    assert done.info.version == desk.take(Path(order.source), name="unbroken").info.version


def test_two_that_write_one_draft_do_not_double_its_rows(desk: Desk) -> None:
    order = Order(source=str(records(desk, 3 * CHUNK_ROWS)), name="set")

    def meanwhile(taken: int, refused: int, share: float) -> None:
        if taken == CHUNK_ROWS:
            desk.run(order)

    with pytest.raises(CourtroomError):
        desk.run(order, meanwhile)
    assert [row.number for row in desk.rows()] == list(range(3 * CHUNK_ROWS))


shell = partial(driving.shell, "datasets")


def test_from_file_to_checked_splits_by_the_shell(desk: Desk) -> None:
    source = str(desk.write("cail.jsonl", [*(fact(n) for n in range(12)), fact(3), {"fact": "x"}]))
    told = json.loads(shell("import", source, "--name", "mine", "--json"))
    assert (told["count"], told["refused"], told["problems"][0][:19]) == (13, 1, "cail.jsonl, line 14")
    assert shell("list").startswith(f"mine\t{told['version']}\tcriminal\t13\tno splits")
    shell("check", "mine", code=1)
    split = shell("split", "mine", "--parts", "train=1,test=1")
    assert sorted(re.findall(r"(?:train|test) (\d+)", split)) == ["6", "7"]
    found = json.loads(shell("show", "mine", "--split", "test", "--sample", "2", "--json"))
    assert [row["split"] for row in found["rows"]] == ["test", "test"]
    assert "not taken in" not in shell("show", "mine")
    assert "13 cases" in shell("precedents", "mine")
    shell("delete", "mine")
    assert shell("list") == ""


@pytest.mark.usefixtures("either_database")
def test_the_shell_takes_out_doubtful_rows(desk: Desk) -> None:
    told = json.loads(shell("import", str(doubtful(desk)), "--name", "mine", "--json"))
    said = shell("show", "mine", "--limit", "0")
    assert "9 records were read, and 7 rows are in." in said
    why = "it lacks its text. Fill it in, or remove the row (2: x.csv, line 9, x.csv, line 10)"
    assert f"2 records were left out:\n{why}" in said
    assert json.loads(shell("show", "mine", "--json"))["import"] == told["counts"]
    with pytest.raises(CourtroomError, match="Say what to keep, such as --take distinct"):
        shell("clean", "mine")

    def left() -> list[tuple[str, str]]:
        rows = json.loads(shell("show", "mine", "--limit", "9", "--json"))["rows"]
        return [(row["case"]["items"][0]["text"].split()[1], row["case"]["items"][0]["label"]) for row in rows]

    assert "2 rows were taken out, as they repeat an earlier one." in shell("clean", "mine", "--take", "distinct")
    assert left() == [("good", "yes"), ("second", "yes"), ("second", "no"), ("third", "no"), ("good", "no")]
    made = json.loads(shell("clean", "mine", "--take", "consistent", "--json"))
    assert made["removed"] == {"their text has several outcomes": 2}
    assert left() == [("good", "yes"), ("third", "no"), ("good", "no")]
    counts = json.loads(shell("show", "mine", "--json"))["import"]
    assert [counts[name] for name in ("read", "rows", "contradictory", "repeated", "blank")] == [9, 3, 0, 0, 0]
    assert list(counts["removed"].values()) == [2, 2]
    shell("check", "mine")
    assert "has no such rows. Nothing was changed." in shell("clean", "mine", "--take", "distinct")
    assert json.loads(shell("show", "mine", "--version", told["version"], "--json"))["info"]["count"] == 7


BY_WORDS = ("--set", "embedding=hashed-ngrams")
DISPUTES = ("camera-fungus", "concert-tickets", "down-jacket", "game-account", "oak-table", "phone-battery")


def disputes(folder: Path, many: int) -> str:
    """A folder with so many of the bundled disputes."""
    for name in DISPUTES[:many]:
        shutil.copytree(ROOT / "data" / "cases" / name, folder / "disputes" / name)
    return str(folder / "disputes")


@pytest.mark.usefixtures("server")
def test_norms_are_distilled_by_the_embedding_that_was_said(house: Courthouse, tmp_path: Path) -> None:
    shell("import", disputes(tmp_path, 4), "--name", "disputes")
    with pytest.raises(CourtroomError, match="--set embedding=local/longformer as in the paper"):
        shell("precedents", "disputes")
    assert [*house.store.each()] == []
    asked = "openai/text-embedding-3-small"
    shell("precedents", "disputes", "--set", f"embedding={asked}", "--set", "closest=2")
    (distilled,) = [*house.store.each()]
    retrievals = house.record(distilled.id).retrievals
    assert {one.embedding for one in retrievals} == {asked}
    assert {len(one.hits) for one in retrievals[2:]} == {2}


def test_a_split_of_disputes_becomes_a_base_of_precedents(house: Courthouse, tmp_path: Path, monkeypatch: Any) -> None:
    shell("import", disputes(tmp_path, 6), "--name", "My_Disputes")
    shell("split", "My_Disputes", "--parts", "train=1,test=1")
    told = shell("precedents", "My_Disputes", "--split", "train", *BY_WORDS)
    parts = [Selection(split=one) for one in ("train", "test")]
    train, test = ([row.case for row in house.datasets.rows("My_Disputes", wanted=one)] for one in parts)
    base = house.knowledge.of("precedents", "my-disputes").all()
    assert {precedent.id for precedent in base} == {f"case-{case.id}" for case in train}
    assert all(precedent.norms for precedent in base)
    assert f"{len(base)} of {len(base)} precedents in the knowledge base “my-disputes” have norms" in told
    (distilled,) = [*house.store.each()]
    first, second, *_ = (retrieval.hits for retrieval in house.record(distilled.id).retrievals)
    assert ([hit.id for hit in first], [hit.id for hit in second]) == ([], [base[0].id])
    heard = hearing(house, "cyberjurors", test[0], jury_size=1, rounds=1, grounding_rounds=1, base="my-disputes")
    found = heard.retrievals[0].hits
    assert {hit.id for hit in found} <= {precedent.id for precedent in base}
    assert len(found) == heard.setup.precedents
    shell("precedents", "My_Disputes", "--split", "train", *BY_WORDS)
    assert len([*house.store.each()]) == 2, "what has norms is not distilled again"
    rest = ("precedents", "My_Disputes", "--split", "test", *BY_WORDS)
    with monkeypatch.context() as broken:
        broken.setattr("courtroom.procedures.distillation.procedure.Put", None)
        shell(*rest, code=1)
    monkeypatch.setattr("courtroom.shell.options.follow", Mock(side_effect=KeyboardInterrupt))
    shell(*rest)
    assert not house.store.under_way()


FACTS = "经审理查明，被告人张某在商场内窃得他人手机一部，价值2100元。"


def gold(desk: Desk) -> list[dict[str, Any]]:
    """What is known of each row's case, without what is not."""
    return [row.case.gold.model_dump(exclude_none=True) for row in desk.rows() if row.case.gold]


MONTHS = {"death_penalty": False, "life_imprisonment": False, "imprisonment": 8}
KNOWN = {"relevant_articles": (264,), "charges": ("盗窃",), "term_of_imprisonment": MONTHS}


def test_cail_raw_and_flat_give_the_same_case(desk: Desk) -> None:
    known = {"relevant_articles": [264], "accusation": ["盗窃"], "punish_of_money": 1000, "criminals": ["张某"]}
    raw = {"fact": FACTS, "meta": {**known, "term_of_imprisonment": MONTHS}}
    flat = {"fact": FACTS, **known, **MONTHS}
    done = desk.take(desk.write("data_train.json", [raw, flat]))
    assert (done.taken, done.refused, done.info.splits) == (2, 0, {"train": 2})
    first, second = (row.case.model_copy(update={"id": "x"}) for row in desk.rows())
    assert first == second
    assert gold(desk) == [KNOWN, KNOWN]
    assert [row.category for row in desk.rows()] == ["盗窃", "盗窃"]
    ((remark, times),) = done.remarks.items()
    assert (times, "punish_of_money" in remark) == (2, True)


def test_multiljp_gives_a_row_for_each_defendant(desk: Desk) -> None:
    desk.take(desk.write("data_test_v5.03.jsonl", [FORMS["multiljp"]]))
    first, second = desk.rows()
    assert (first.case.defendants, second.case.defendants) == (("被告A", "被告B"), ("被告B", "被告A"))
    assert (first.group, first.split) == (second.group, "test")
    assert first.id != second.id
    one, two = gold(desk)
    assert (one["charges"], one["relevant_articles"]) == (("盗窃",), (264, 25))
    assert (two["charges"], two["relevant_articles"]) == (("盗窃", "诈骗"), (264, 266))
    assert [known["term_of_imprisonment"]["imprisonment"] for known in (one, two)] == [18, 3]


def test_simucourt_keeps_criminal_cases_alone(desk: Desk) -> None:
    case = FORMS["simucourt"]
    civil = {**case, "序号": 2, "类别": "民事", "刑事_罪名": "无", "刑事_刑期": "无"}
    done = desk.take(desk.write("SimuCourt(1).json", [case, civil]))
    (row,) = desk.rows()
    assert (row.case.defendants, row.category) == (("张某", "李某"), "一审")
    assert "构成盗窃罪" not in row.case.facts
    (known,) = gold(desk)
    assert (known["relevant_articles"], known["charges"]) == ((264, 67), ("盗窃", "诈骗"))
    assert known["term_of_imprisonment"]["imprisonment"] == 38
    (problem,) = done.problems
    assert problem.place == "SimuCourt(1).json, entry 2"
    assert "`类别` is “民事”" in problem.message


def test_simcourt_takes_the_statement_with_the_masked_penalty(desk: Desk) -> None:
    record = FORMS["simcourt"]
    desk.write("data_LJP/12/data_anonymized.json", record)
    desk.write("data_LJP/2/data_anonymized.json", {**record, "charge": ["盗窃罪"]})
    desk.take()
    first, second = desk.rows()
    assert "三个月" not in first.case.facts
    assert "鉴定意见" in first.case.facts
    assert first.case.defendants == ("李某甲",)
    assert [one["charges"] for one in gold(desk)] == [("盗窃",), ("危险驾驶",)]  # folder 2 before folder 12
    assert gold(desk)[0]["term_of_imprisonment"]["imprisonment"] == 3
    assert (first.id, second.id) == ("trial-2", "trial-12")
    assert (first.place, second.place) == ("data_LJP/2/data_anonymized.json", "data_LJP/12/data_anonymized.json")


def test_lecard_gives_queries_candidates_and_relevance(desk: Desk) -> None:
    query = {"path": "a/b.json", "ridx": 1325, "q": FACTS, "crime": ["诈骗罪", "信用卡诈骗罪"]}
    desk.write("query/query.json", [query])
    names = {"ajId": "x", "ajName": "某人贩卖毒品一案", "writId": "y", "writName": "z"}
    candidate = {**names, "ajjbqk": "公诉机关指控……", "pjjg": "判处……", "qw": "全文"}
    desk.write("candidates/1325/38633.json", candidate)
    desk.write("candidates/7/38633.json", candidate)
    desk.write("candidates/1325/5187.json", {**candidate, "ajjbqk": "另一案情。"})
    desk.write("label/golden_labels.json", {"1325": [38633]})
    desk.write("label/label_top30_dict.json", {"1325": {"38633": 3, "5187": 1}})
    assert desk.take().info.splits == {"candidates": 2, "queries": 1}
    assert sorted(row.id for row in desk.rows()) == ["candidate-38633", "candidate-5187", "query-1325"]
    assert desk.datasets.relevance("set") == {"query-1325": {"candidate-38633": 3, "candidate-5187": 1}}
    query = next(desk.datasets.rows("set", wanted=Selection(ids=("query-1325",)))).case
    assert query.gold.charges == ("诈骗", "信用卡诈骗")


@needs_real_data
def test_real_records_are_named_by_task_and_item(desk: Desk) -> None:
    done = desk.take(FOLDER / "lawbench")
    assert (done.taken, done.refused) == (1185, 0)
    row = next(desk.datasets.rows("set", wanted=Selection(ids=("3-4-10",))))
    assert (row.category, row.number, row.place) == ("3-4", 10, "3-4.jsonl, line 11")
    asked = {row.category: row.case.asked for row in desk.rows()}
    assert asked == {**dict.fromkeys(asked, "judgment"), "3-6": "case_analysis", "3-7": "crime_amount"}
    assert not any(row.case.facts.startswith(("事实", "文书:")) for row in desk.rows())
    cail = desk.take(FOLDER / "cail_like.jsonl", name="cail")
    assert (cail.taken, cail.refused) == (199, 0)


@pytest.mark.parametrize("form", FORMS["documents"])
def test_documents_come_with_their_summaries(desk: Desk, form: dict[str, Any]) -> None:
    desk.take(desk.write("test.jsonl", [form["record"], form["record"] | {"id": "other"}]))
    case = desk.rows()[0].case
    assert (case.text, case.reference, case.domain) == (form["text"], form["summary"], form["domain"])


@pytest.mark.parametrize("form", FORMS["labelled"], ids=lambda form: form["file"])
def test_labelled_texts_have_the_labels_of_their_files(desk: Desk, form: dict[str, Any]) -> None:
    assert desk.take(desk.write(form["file"], form["content"]), names=form["names"]).refused == 0
    assert [label for _, label in texts(desk)] == form["labels"]
    task: Any = desk.rows()[0].case
    assert task.names == tuple(form["columns"])
    assert set(filter(None, form["labels"])) <= set(task.labels)
