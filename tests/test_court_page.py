"""Every example on the page on what an author can call runs, and the page leaves out no method of the court."""

import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

from courtroom import Court, Courthouse, Procedure, Role, Settings, StageKind, Verdict
from courtroom.procedures.registration import register
from tests.docs import ROOT, blocks
from tests.driving import drive

PAGE = "docs/court.md"
TEXT = (ROOT / PAGE).read_text(encoding="utf-8")
METHODS = dict(re.findall(r"^### (.+?)\n.*?^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL))
"""What stands in a `deliberate`, by the methods that it shows."""


def module() -> dict[str, Any]:
    """All that the page defines."""
    names: dict[str, Any] = {}
    for block in blocks(PAGE, "python"):
        if block not in METHODS.values():
            exec(compile(block, PAGE, "exec", dont_inherit=True), names)
    return names


def procedure(step: str, prompts: Path) -> Procedure:
    """A procedure whose `deliberate` is an example."""
    for block in blocks(PAGE, "jinja"):
        name = re.match(r"\{# (\S+) #\}\n", block)
        assert name
        (prompts / name[1]).write_text(block[name.end() :])
    (prompts / "_system.md.j2").write_text("You advise. Write in {{ case.language | language }}.")
    names = module()
    begin = "" if "court.stage" in step else 'await court.stage("Round 1", "round")\n'
    end = "\nreturn {name: value for name, value in locals().items() if name != 'court'}\n"
    exec("async def example(court):\n" + textwrap.indent(begin + step + end, "    "), names)

    async def deliberate(court: Court[Any, Any]) -> Verdict:
        said = await names["example"](court)
        return Verdict(outcome="The example ran", summary=", ".join(said))

    return Procedure(
        name="example",
        title="Example",
        summary="",
        paper="",
        case_kind="dispute",
        setup=names["AdviceSetup"],
        roles=(Role("adviser", "Adviser", "", votes=True), Role("chair", "Chair", "")),
        stages=(StageKind("round", "Round", ""),),
        choices=names["CHOICES"],
        tasks=(names["Advise"],),
        offline={names["Advise"]: names["advise"]},
        prompts=prompts,
        members=names["members"],
        looks_in=("precedents",),
        deliberate=deliberate,
        at_most=lambda case, setup: 99,
    )


@pytest.mark.parametrize("step", METHODS.values(), ids=list(METHODS))
def test_an_example_on_the_page_runs(step: str, tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    heard = procedure(step, tmp_path / "prompts")
    register((heard,))
    house = Courthouse(Settings(home=tmp_path / "home"), procedures=(heard,))
    run = drive(house, house.new_run("example", house.library.case("phone-battery"), heard.setup(), 0))
    record = house.record(run)
    assert record.run.verdict, record.run.reason
    assert record.stages


def test_the_page_leaves_out_no_method_of_the_court() -> None:
    told = {name for heading in METHODS for name in heading.split(", ")}
    assert told == {name for name in (*vars(Court), *Court.__annotations__) if not name.startswith("_")}
