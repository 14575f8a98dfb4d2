"""The shell around the criminal benches: forks, knowledge base, training data; what is wrong is told in a sentence."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

Shell = Callable[..., tuple[int, str, str]]


@pytest.fixture
def shell(shell: Shell, tmp_path: Path) -> Shell:
    """Runs a command; its exit code, what is on stdout, and on stderr."""
    return partial(shell, tmp_path / "home")


def result(told: tuple[int, str, str]) -> Any:
    code, out, err = told
    assert code == 0, err
    return json.loads(out)


def heard(shell: Shell, *words: str, case: str = "criminal-bus-wallet") -> str:
    """The id of a run that is done."""
    done = result(shell("run", case, "--procedure", "verdict", *words, "--json"))
    assert done["status"] == "done"
    return str(done["run"])


def refused(told: tuple[int, str, str]) -> str:
    """The one plain sentence with which wrong use ends."""
    code, out, err = told
    (sentence,) = err.strip().splitlines()
    assert (code, out) == (2, "")
    assert sentence[-1] in ".?"
    return sentence


def test_a_fork_asks_what_its_estimate_says_and_no_more(shell: Shell) -> None:
    run, words = heard(shell), ("--set", "statutes=3")
    ask, serve = 4, 1  # the clerk's points alone don't depend on it
    found = result(shell("fork", run, *words, "--estimate", "--json"))
    anew = found.pop("anew")
    assert sum(anew.values()) == ask
    assert found == {"calls": ask + serve, "ask": ask, "serve": serve}
    assert shell("runs")[1].count("\n") == 1  # an estimate leaves no run behind
    told = shell("fork", run, *words, "--estimate")[1]
    why = f"Anew: {', '.join(f'{title} {number}' for title, number in anew.items())}."
    assert told == f"{ask} calls would be asked, {serve} are served from the record. {why}\n"
    fork = result(shell("fork", run, *words, "--json"))
    assert (fork["status"], fork["asked"], fork["recorded"]) == ("done", ask, serve)


def precedent(number: int) -> str:
    judgment = {"relevant_articles": [264], "accusation": ["theft"], "term_of_imprisonment": {"imprisonment": number}}
    return json.dumps({"fact": f"The defendant took zither{number} out of the museum at night.", "meta": judgment})


def test_precedents_are_imported_and_found(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "cail.jsonl"
    file.write_text("\n".join(map(precedent, range(1, 4))))
    code, out, err = shell("knowledge", "import", str(file))
    told = "3 records of cail.jsonl are in “cases” of “imported”. Use it by --set base=imported.\n"
    assert (code, out) == (0, told)
    assert "Taking in 3 of 3" in err
    assert shell("knowledge", "import", str(file))[1] == out
    search = ("knowledge", "search", "zither2 museum", "--in", "cases", "--base", "imported", "--k")
    rows = result(shell(*search, "3", "--json"))
    assert [row["id"].startswith("case-") for row in rows] == [True] * 3
    assert set(rows[0]) == {"id", "similarity", "dense_rank", "bm25", "bm25_rank", "fused"}
    assert (rows[0]["bm25_rank"], rows[0]["fused"] >= rows[1]["fused"]) == (1, True)
    (line,) = shell(*search, "1")[1].splitlines()
    assert line.split("\t")[0] == rows[0]["id"]


def test_a_collection_is_indexed_anew_and_what_can_not_be_is_told(shell: Shell, tmp_path: Path) -> None:
    code, out, _ = shell("knowledge", "reindex", "charges")
    assert (code, "records of “charges” are indexed with" in out) == (0, True)
    elsewhere = ("--embedding", "http://evil.example/v1")
    assert "holds no address" in refused(shell("knowledge", "reindex", "charges", *elsewhere))
    bad = tmp_path / "bad.jsonl"
    bad.write_text(precedent(1) + "\nnot json\n")
    assert "line 2" in refused(shell("knowledge", "import", str(bad)))
    assert "is not there" in refused(shell("knowledge", "import", str(tmp_path / "none.jsonl")))
    assert "is not there" in refused(shell("knowledge", "import", str(tmp_path)))
    bad.unlink()
    bad.symlink_to("/proc/self/mem")
    for words in (("run",), ("cases", "add"), ("cases", "check"), ("knowledge", "import")):
        assert "can't be used: Input/output error" in refused(shell(*words, str(bad)))
    assert "`statutes`, `charges` or `cases`" in refused(shell("knowledge", "import", str(bad), "--into", "nope"))
    unknown = refused(shell("knowledge", "search", "a wallet", "--in", "nope"))
    assert "no collection “nope”. Known: precedents, statutes" in unknown
    assert "no collection “nope”" in refused(shell("knowledge", "reindex", "nope"))
    assert "no knowledge base “nope”. Known: bundled" in refused(shell("knowledge", "search", "x", "--base", "nope"))
    assert "some words" in refused(shell("knowledge", "search", " "))
    code, out, err = shell("knowledge", "search", "a wallet", "--k", "0")
    assert (code, out, "'--k'" in err.splitlines()[-1]) == (2, "", True)


def test_training_data_is_written_in_the_two_forms_that_trl_reads(shell: Shell, tmp_path: Path) -> None:
    right, wrong = heard(shell), heard(shell, "--set", "ranking=dense", case="criminal-two-brothers")
    few = shell("align", wrong, "--to", str(tmp_path / "none"), "--set", "budget.calls=1", "--json")
    assert (result(few)["status"], (tmp_path / "none").exists()) == ("paused", False)

    def written(folder: str, *runs: str) -> Any:
        return result(shell("align", *runs, "--to", str(tmp_path / folder), "--json"))

    done = written("data")
    assert (done["status"], done["procedure"], done["stages"]) == ("done", "alignment", ["Draft 2"])
    assert done["verdict"] == "1 demonstrations, 1 preference pairs"
    row, pair = (json.loads((tmp_path / "data" / name).read_text()) for name in ("sft.jsonl", "dpo.jsonl"))
    assert row.keys() == {"messages"}
    assert json.loads(row["messages"][-1]["content"])["predicted_article"] == 264
    assert pair.keys() == {"prompt", "chosen", "rejected"}
    assert written("one", right)["verdict"] == "1 demonstrations, 0 preference pairs"
    assert (tmp_path / "one" / "dpo.jsonl").read_text() == ""
    assert written("other", wrong)["verdict"] == "0 demonstrations, 1 preference pairs"
