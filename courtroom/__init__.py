"""Watch and steer deliberations between language-model agents.

What a program that uses Courtroom needs, and all that the author of a procedure needs, is found here:
`from courtroom import Courthouse, Procedure, Task, Answer`. Each name is loaded when it is first asked for, so that
`import courtroom` alone costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from courtroom.version import __version__

if TYPE_CHECKING:
    from courtroom.cases.case import Case
    from courtroom.courthouse import Courthouse
    from courtroom.engine.blocks import (
        Beside,
        Card,
        Cards,
        Diff,
        Edge,
        Flow,
        Graph,
        Marked,
        Node,
        Span,
        Step,
        Table,
        Text,
    )
    from courtroom.engine.court import Court
    from courtroom.engine.errors import Abstained, QuorumLost
    from courtroom.engine.events import Verdict
    from courtroom.engine.procedure import Choice, Ending, Export, Peers, Preset, Procedure, Role, StageKind, View
    from courtroom.engine.record import Record
    from courtroom.engine.setup import Budget, Member, Setup
    from courtroom.errors import CourtroomError
    from courtroom.media.medium import Medium
    from courtroom.models.spec import ModelSpec
    from courtroom.models.task import Answer, Task
    from courtroom.settings import Settings
    from courtroom.strict import Strict

_PLACES = {
    "courtroom.cases.case": "Case",
    "courtroom.media.medium": "Medium",
    "courtroom.strict": "Strict",
    "courtroom.courthouse": "Courthouse",
    "courtroom.engine.blocks": "Beside Card Cards Diff Edge Flow Graph Marked Node Span Step Table Text",
    "courtroom.engine.court": "Court",
    "courtroom.engine.errors": "Abstained QuorumLost",
    "courtroom.engine.events": "Verdict",
    "courtroom.engine.procedure": "Choice Ending Export Peers Preset Procedure Role StageKind View",
    "courtroom.engine.record": "Record",
    "courtroom.engine.setup": "Budget Member Setup",
    "courtroom.errors": "CourtroomError",
    "courtroom.models.spec": "ModelSpec",
    "courtroom.models.task": "Answer Task",
    "courtroom.settings": "Settings",
}
_MODULES = {name: module for module, names in _PLACES.items() for name in names.split()}

__all__ = [
    "__version__",
    "Abstained",
    "Answer",
    "Beside",
    "Budget",
    "Card",
    "Cards",
    "Case",
    "Choice",
    "Court",
    "Courthouse",
    "CourtroomError",
    "Diff",
    "Edge",
    "Ending",
    "Export",
    "Flow",
    "Graph",
    "Marked",
    "Medium",
    "Member",
    "ModelSpec",
    "Node",
    "Peers",
    "Preset",
    "Procedure",
    "QuorumLost",
    "Record",
    "Role",
    "Settings",
    "Setup",
    "Span",
    "StageKind",
    "Step",
    "Strict",
    "Table",
    "Task",
    "Text",
    "Verdict",
    "View",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
