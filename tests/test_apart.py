"""Prompts that are rendered in a process of their own are the very prompts that this process would render."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from courtroom.courthouse import Courthouse
from courtroom.models.prompts import Prompts, templates
from courtroom.models.request import Message
from courtroom.models.task import Task
from tests.driving import house
from tests.samples import sample
from tests.toy import CASE, CastVote, toy

__all__ = ["house"]  # a fixture


@pytest.mark.parametrize("name", ["cyberjurors", "verdict", "juris", "debate", "discussion", "council", "mock-jury"])
def test_every_prompt_is_the_same_both_ways(name: str, house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    procedure = house.procedures[name]
    twins: dict[int, tuple[Prompts, Prompts]] = {}
    render = Prompts.render

    async def both(prompts: Prompts, task: Task[Any], **how: Any) -> tuple[Message, ...]:
        if id(prompts) not in twins:
            edits = {"_system": templates(prompts._folder, "")["_system"]}  # an edit that changes nothing
            twins[id(prompts)] = prompts, Prompts(prompts._folder, prompts._common, edits, prompts._notes)
        here = await render(prompts, task, **how)
        assert await render(twins[id(prompts)][1], task, **how) == here
        return here

    monkeypatch.setattr(Prompts, "render", both)
    small = {"jury_size": 3, "rounds": 2} if name == "cyberjurors" else {}
    house.estimate(name, sample(house, procedure.kinds[0]), procedure.setup(**small), 0)
    assert twins


async def test_objects_print_the_same_both_ways_and_a_case_is_never_read_as_a_template(tmp_path: Path) -> None:
    folder, says = toy(tmp_path).prompts, "{{ 7 * 7 }} {% include '_system' %} {{ ''.__class__ }}"
    text = (
        "{% block own %}{{ case }} {{ [case.transaction] }} {{ seen }} {{ case.evidence | length }} {{ case.title | quote }}"
        " {{ case.transaction == case.transaction }} {{ when }} {{ case.title }} {{ seen[0] }}{% endblock %}"
    )
    (folder / "vote.md.j2").write_text(text)
    common = {"case": CASE.model_copy(update={"title": says}), "when": datetime(2026, 1, 2, tzinfo=UTC)}
    task = CastVote(seen=(says, "b"))
    here = await Prompts(folder, common).render(task, sees=False)
    assert f"{says} {says}\n" in "".join(str(part) for message in here for part in message.parts)
    assert await Prompts(folder, common, {"vote": text}).render(task, sees=False) == here
