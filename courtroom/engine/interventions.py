"""What a person does to a run, as data: shown, exported, forked and replayed like everything else."""

import secrets
import time
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, TypeAdapter

from courtroom.access import Access, Resource, needs
from courtroom.declarations.knobs import path_in_words
from courtroom.declarations.setup import Setup
from courtroom.engine.events import Called, StageBegan, Voted, read_event
from courtroom.errors import CourtroomError
from courtroom.models.beside import MAX_QUESTION_CHARACTERS
from courtroom.sharing import changing, demand_change, may_see
from courtroom.store.connection import read
from courtroom.store.database import Tables, insert
from courtroom.strict import Strict


class InterventionRefused(CourtroomError):
    """Something that can't be done to this run now; the message says why."""


class Overrule(Strict):
    """One member's answer is replaced: a vote, a draft, a Pass or Reject, a summary."""

    kind: Literal["overrule"] = "overrule"
    path: str = Field(description="The call's path, e.g. `round-2/juror-05/judge`.")
    value: dict[str, Any] = Field(description="The answer in place of the member's, in the form of its schema.")


class ChangeSetup(Strict):
    """Something in the setup is different from a stage on: a persona, a model, an edge, a prompt, a knob, a seat."""

    kind: Literal["change"] = "change"
    key: str = Field(description="Path into the setup, e.g. `jury.5.traits`; places in lists from 1.")
    value: Any = None


class AddEvidence(Strict):
    """A piece of evidence that all see from a stage on."""

    kind: Literal["evidence"] = "evidence"
    text: str = Field(min_length=1, max_length=20_000)
    side: str = Field(default="", description="Whose it is, where the kind of case has sides.")


class AddNote(Strict):
    """A note that all are given from a stage on."""

    kind: Literal["note"] = "note"
    text: str = Field(min_length=1, max_length=4_000)


class ReplyToQuestions(Strict):
    """The court's reply to questions that members have put to it; all are told both from a stage on."""

    kind: Literal["reply"] = "reply"
    questions: tuple[Annotated[str, Field(min_length=1, max_length=MAX_QUESTION_CHARACTERS)], ...] = Field(
        min_length=1, max_length=100
    )
    text: str = Field(min_length=1, max_length=4_000)


Action = Annotated[Overrule | ChangeSetup | AddEvidence | AddNote | ReplyToQuestions, Field(discriminator="kind")]
ACTION: TypeAdapter[Action] = TypeAdapter(Action)


class Intervention(Strict):
    """An action with who did it, when, from which stage on, and what was there before."""

    id: str = Field(default_factory=lambda: secrets.token_hex(6), description="Doing the same id twice does it once.")
    number: int = Field(default=0, description="Place in the run's list, from 1.")
    who: str = Field(default="somebody", max_length=80)
    at: float = Field(default_factory=time.time)
    index: int = Field(ge=0, description="Index of the stage from which it holds.")
    stage: str = Field(default="", description="Its name, or what it comes after.")
    action: Action
    before: Any = None

    def described(self, kind: type[BaseModel] = Setup) -> str:
        """Return what was done, in words; the kind of the run's setup says what its settings are called."""
        match self.action:
            case Overrule():
                return f"overruled {self.action.path}"
            case ChangeSetup():
                return f"changed {path_in_words(kind, self.action.key)}"
            case AddEvidence():
                return f"put in evidence{f' of the {self.action.side}' if self.action.side else ''}"
            case ReplyToQuestions(questions=questions):
                return (
                    f"replied to “{questions[0]}”" if len(questions) == 1 else f"replied to {len(questions)} questions"
                )
            case AddNote():
                return "gave all a note"

    @property
    def after(self) -> Any:
        """What stands there now."""
        return self.action.value if isinstance(self.action, Overrule | ChangeSetup) else self.action.text


class InterventionStore(Tables):
    """The interventions of runs, in the order in which they were made, and what is worked out anew because of them.

    An event's column `overtaken` says which generation of the run took its place, 0 while it stands. What the
    knowledge base was taught, and notes that a reader was shown, stand for good. Methods may be called from any thread.
    """

    def of(self, run: str) -> tuple[Intervention, ...]:
        """All that hold; none of a run that the person who acts may not see."""
        if not may_see(self._database, Resource(kind="run", id=run)):
            return ()
        rows = self._database.execute(
            "SELECT body FROM interventions WHERE run = ? AND undone IS NULL ORDER BY number", (run,)
        )
        parse = Intervention.model_validate_json
        return tuple(read("intervention of run", run, partial(parse, row["body"])) for row in rows)

    def count(self, run: str) -> int:
        """How many were ever made or undone: differs as soon as somebody does anything."""
        row = self._database.row("SELECT count(*) + count(undone) AS n FROM interventions WHERE run = ?", (run,))
        return int(row["n"])

    def add(self, run: str, intervention: Intervention, seen: int | None = None, rewind: int | None = None) -> None:
        """Put one on record; one with the same id is there once.

        Args:
            seen: the `count` when the person decided; where somebody else acted since, it is refused.
            rewind: index of the stage from which what happened is to be worked out anew.

        Raises:
            InterventionRefused: somebody else has intervened meanwhile.
        """
        with self._database.transaction() as db:
            changing(self._database, "intervene", Resource(kind="run", id=run), intervention.action.kind)
            if db.execute("SELECT 1 FROM interventions WHERE run = ? AND id = ?", (run, intervention.id)).fetchone():
                return
            count = self.count(run)
            if seen is not None and seen != count:
                why = "Somebody else has intervened in this run meanwhile. Look at what was done, then decide again."
                raise InterventionRefused(why)
            number = self._database.row(
                "SELECT coalesce(max(number), 0) + 1 AS number FROM interventions WHERE run = ?", (run,)
            )
            self.put(run, [intervention.model_copy(update=dict(number))])
            if rewind is not None:
                self.plan(run, rewind)

    def undo(self, run: str, name: str, rewind: int | None = None) -> None:
        with self._database.transaction() as db:
            changing(self._database, "undo", Resource(kind="run", id=run))
            last = db.execute(
                "SELECT id FROM interventions WHERE run = ? AND undone IS NULL ORDER BY number DESC LIMIT 1", (run,)
            ).fetchone()
            if last is None or last["id"] != name:
                raise InterventionRefused("Only the last intervention can be undone; undo those after it first.")
            db.execute("UPDATE interventions SET undone = ? WHERE run = ? AND id = ?", (time.time(), run, name))
            if rewind is not None:
                self.plan(run, rewind)

    # --- what is worked out anew ----------------------------------------------------------------------------

    def plan(self, run: str, index: int) -> None:
        """Have the run rewound to the beginning of a stage when it goes on; of several plans the earliest counts."""
        self._database.execute(
            "INSERT INTO rewinds VALUES (?, ?) ON CONFLICT (run) DO UPDATE SET stage = excluded.stage"
            " WHERE excluded.stage < rewinds.stage",
            (run, index),
        )

    def rewind(self, run: str) -> None:
        """Do what was planned, if anything was: everything from that stage on will be worked out anew."""
        if self._database.row("SELECT 1 FROM rewinds WHERE run = ?", (run,)) is None:
            return
        with self._database.transaction() as db:
            db.execute(
                "UPDATE events SET overtaken = (SELECT max(overtaken) + 1 FROM events WHERE run = :run)"
                " WHERE run = :run AND overtaken = 0 AND kind NOT IN ('learned', 'note') AND stage IN"
                " (SELECT path FROM events WHERE run = :run AND overtaken = 0 AND kind = 'stage' AND CASE"
                " WHEN json_valid(body) THEN CAST(json_extract(body, '$.index') AS BIGINT) ELSE -1 END"
                " >= (SELECT stage FROM rewinds WHERE run = :run))",
                {"run": run},
            )
            db.execute("UPDATE runs SET verdict = NULL WHERE id = ?", (run,))
            db.execute("DELETE FROM rewinds WHERE run = ?", (run,))

    def ask_again(self, run: str) -> None:
        """Have the run rewound so that those who failed are asked again; answers that were given come from the record.

        It goes back to the earliest last failure of the members without a vote or an answer in the last stage. Where
        none of them failed, as those who did were left out since, it goes back to the last failure of all.
        """
        with self._database.transaction() as db:
            rows = db.execute(
                "SELECT body FROM events WHERE run = ? AND overtaken = 0 AND kind IN ('stage', 'call', 'vote')"
                " ORDER BY seq",
                (run,),
            )
            events = [read_event(run, row["body"]) for row in rows]
            index = {event.path: event.index for event in events if isinstance(event, StageBegan)}
            here = max(index, key=index.__getitem__, default="")
            failed: dict[str, int] = {}
            without: set[str] = set()
            for event in events:
                if isinstance(event, Called) and event.value is None and event.stage in index:
                    failed[event.member] = max(index[event.stage], failed.get(event.member, 0))
                    without |= {event.member} if event.stage == here else set()
                elif isinstance(event, Voted) and event.choice is None and event.stage == here:
                    without.add(event.member)
            if failed:
                now = [failed[member] for member in without & failed.keys()]
                self.plan(run, min(now) if now else max(failed.values()))

    def overtaken(self, run: str) -> list[Called]:
        """Calls that no longer stand in the run. One that was answered and stands again is not among them."""
        rows = self._database.execute(
            "SELECT gone.body AS gone, stands.body AS stands FROM events AS gone LEFT JOIN events AS stands"
            " ON stands.run = gone.run AND stands.overtaken = 0 AND stands.kind = 'call' AND stands.path = gone.path"
            " WHERE gone.run = ? AND gone.overtaken > 0 AND gone.kind = 'call' ORDER BY gone.seq",
            (run,),
        )
        calls: dict[object, Called] = {}
        for number, row in enumerate(rows):
            gone, stands = (read_event(run, body) if body else None for body in (row["gone"], row["stands"]))
            assert isinstance(gone, Called)
            if gone.value is None:
                calls[number] = gone
            elif not isinstance(stands, Called) or stands.keys != gone.keys:
                calls.setdefault((gone.path, gone.keys), gone)
        return list(calls.values())

    @needs(Access.RUN)
    def demand_change(self, run: str) -> None:
        demand_change(self._database, Resource(kind="run", id=run))

    def put(self, run: str, interventions: Sequence[Intervention]) -> None:
        """What a new run begins with, within a transaction of the caller's."""
        rows = (
            {"run": run, "number": one.number, "id": one.id, "body": one.model_dump_json()} for one in interventions
        )
        insert(self._database.connection, "interventions", rows, or_keep=True)
