"""What a verdict of 17 jurors in three rounds costs with a provider's cache and its batch, beside what it costs without."""

from pathlib import Path

import pytest

from courtroom import Courthouse
from courtroom.datasets import Row
from courtroom.experiments.spec import parsed
from courtroom.models import batches
from courtroom.models.card import price
from tests.driving import done
from tests.provider_server import ProviderServer

CASE = "phone-battery"
DOCS = Path(__file__).parents[1] / "docs/models.md"
PANEL = {"jury_size": 17, "rounds": 3, "consensus": 1.0, "model.vision": "no"}


@pytest.mark.parametrize(
    ("model", "most"),
    [("anthropic/claude-sonnet-5-5", 0.35), ("openai/gpt-5-mini", 0.35), ("anthropic/claude-sonnet-4-5", 0.40)],
)
def test_a_verdict_with_cache_and_batch_costs_what_is_published(
    model: str, most: float, house: Courthouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "QUIET_S", 0.2)
    monkeypatch.setattr(batches, "MIN_LOOK_S", 0.05)
    case = house.library.case(CASE)
    house.datasets.add("one", iter([Row(id=case.id, case=case, category="", split="test")]))
    arm = {"name": "jury", "procedure": "cyberjurors", "model": model, "set": PANEL}
    experiment = parsed({"name": "cost", "dataset": {"name": "one"}, "batch": True, "arms": [arm]}, "here")
    with ProviderServer(known_to=monkeypatch) as server:
        expected = house.experiments.estimate(experiment)
        (row,) = done(house, experiment).rows
        record = house.record(row.run)
    assert (row.state, len(record.tallies), server.calls) == ("done", 3, 0), row.reason
    paid = {name: server.billed[f"batch {name}"] for name in ("full", "read", "written", "completion")}
    prompt, completion = record.tokens
    billed = (sum(paid.values()) - completion, paid["read"], prompt + completion)
    assert (prompt, record.spent.cached, record.spent.batched) == billed
    single, half = price(model), price(model, by_batch=True)
    assert single is not None
    assert half is not None
    assert record.cost == pytest.approx(half.of(prompt, completion, paid["read"], paid["written"]))
    whole, cached = single.of(prompt, completion), single.of(prompt, completion, paid["read"], paid["written"])
    assert record.cost / whole <= most
    assert expected.money == pytest.approx(record.cost, rel=0.5)
    figures = (
        f"| {model} | {paid['full']:,} | {paid['read']:,} | {paid['written']:,} | {completion:,} "
        f"| {whole:.3f} | {cached:.3f} | {record.cost:.3f} | {record.cost / whole:.1%} |"
    )
    print(f"{len(record.calls)} calls in {len(server.batches)} batches, estimated US$ {expected.money:.3f}\n{figures}")
    assert figures in DOCS.read_text("utf-8")
