"""The script that writes a large store, and the benchmark on it, in small."""

import json
from pathlib import Path

import pytest

from courtroom.courthouse import Courthouse
from courtroom.settings import Settings
from courtroom.upkeep.doctor import examine
from tests.benchmarks import bench_big_store
from tests.benchmarks.write_big_store import write


def test_a_large_store_is_whole_and_its_pages_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, 100, 1_500, tiny=True)
    heard = json.loads((tmp_path / "heard.json").read_text())
    house = Courthouse(Settings(home=tmp_path / bench_big_store.BIG))
    runs = house.store.runs()
    assert 100 <= len(runs) < 110
    assert {run.status for run in runs} == {"done"}
    copy = next(run for run in runs if run.id.startswith(f"{heard['large']}-"))
    first, second = house.record(heard["large"]), house.record(copy.id)
    assert [call.value for call in first.calls] == [call.value for call in second.calls]
    keys = [{key for call in record.calls for key in call.keys} for record in (first, second)]
    assert not keys[0] & keys[1], "each copy has answers of its own"
    assert [house.answers.reply(key) for key in sorted(keys[0])] == [
        house.answers.reply(key) for key in sorted(keys[1])
    ]
    assert first.asked == second.asked
    house.close()
    assert {one.state for one in examine(Settings(home=tmp_path / bench_big_store.BIG))} == {"fine"}
    monkeypatch.setenv("COURTROOM_HOME", str(tmp_path))
    empty = tmp_path / bench_big_store.EMPTY
    empty.mkdir()
    stores = {name: tmp_path / name for name in (bench_big_store.EMPTY, bench_big_store.FEW, bench_big_store.BIG)}
    pages = [page for page in bench_big_store.pages_of(heard) if page.title in ("Compare", "One experiment")]
    lines = bench_big_store.measure(stores, pages, 1, bench_big_store.Here)
    assert len(lines) == 1 + 2 * len(pages)
    assert all("ratio" in line for line in lines)
