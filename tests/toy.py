"""A small procedure and a scripted model, to try the engine with nothing else around it."""

import asyncio
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, Field

from courtroom import Case, Court, Lesson, ModelSpec, Procedure, Record, Settings, Task, Verdict
from courtroom.cases.dispute import Dispute, Transaction
from courtroom.declarations.parts import Choice, Role, StageKind
from courtroom.declarations.setup import Budget, Member, Setup
from courtroom.engine.answers import AnswerStore, Asker
from courtroom.engine.run import Control
from courtroom.engine.runner import Runner
from courtroom.engine.store import RunStore
from courtroom.knowledge.search import Hit, Query
from courtroom.models.capabilities import Capabilities
from courtroom.models.pool import ModelPool
from courtroom.models.request import Model, Reply, Request, Usage, Watch
from courtroom.store.opening import open_store
from courtroom.store.writer import Writer

KETTLE = Transaction(product="Kettle", price=20)
CASE = Dispute(id="toy", title="A kettle that does not boil", category="Other", transaction=KETTLE)


class Vote(BaseModel):
    side: Literal["buyer", "seller"]
    reason: str = ""


class CastVote(Task[Vote]):
    name = "vote"
    title = "Vote"
    seen: tuple[str, ...] = ()
    round: int = 1


class ToySetup(Setup):
    size: int = 3
    rounds: int = Field(default=2, ge=1)
    consensus: float = 1.0


def members(setup: ToySetup) -> tuple[Member, ...]:
    return tuple(
        Member(id=f"juror-{n:02d}", role="juror", name=f"Juror {n}", spec=setup.spec(f"juror-{n:02d}", "juror"))
        for n in range(1, setup.size + 1)
    )


async def deliberate(court: Court[Case, ToySetup]) -> Verdict:
    votes: list[Vote | None] = []
    seen: tuple[str, ...] = ()
    for number in range(1, court.setup.rounds + 1):
        await court.stage(f"Round {number}", "round")
        jury = court.panel("juror")
        votes = await court.all(court.ask(juror, CastVote(seen=seen, round=number)) for juror in jury)
        for juror, vote in zip(jury, votes, strict=True):
            court.vote(juror, vote.side if vote else None, [vote.reason] if vote else [])
        tally = court.tally(("buyer", "seller"), court.setup.consensus)
        seen = tuple(vote.side if vote else "-" for vote in votes)
        if tally.consensus:
            break
    await court.stage("Verdict", "verdict")
    return Verdict(outcome=max(tally.counts, key=tally.counts.__getitem__), counts=tally.counts)


def toy(folder: Path) -> Procedure:
    """The procedure, with its prompts written into a folder."""
    (folder / "_system.md.j2").write_text("You sit in a jury.")
    (folder / "_case.md.j2").write_text("{{ case.title | quote }}")
    vote = "{% block shared %}Vote.{% endblock %}{% block own %}{{ round }} {{ seen }}{% endblock %}"
    (folder / "vote.md.j2").write_text(vote)
    return Procedure(
        name="toy",
        title="Toy",
        summary="",
        paper="",
        case_kind="dispute",
        setup=ToySetup,
        roles=(Role("juror", "Juror", "", votes=True),),
        stages=(StageKind("round", "Round", ""), StageKind("verdict", "Verdict", "")),
        choices=(Choice("buyer", "Buyer", 0, "circle", "●"), Choice("seller", "Seller", 1, "square", "■")),
        tasks=(CastVote,),
        offline={CastVote: lambda task, draw: Vote(side="buyer")},
        prompts=folder,
        members=members,
        deliberate=deliberate,
        at_most=lambda case, setup: setup.size * setup.rounds,
    )


Answering = Callable[[Request], str | Exception]


@dataclass
class Scripted:
    """Answers as told, and keeps what it was asked. `hold` keeps answers back until they are let go."""

    reply: Answering = lambda request: '{"side": "buyer", "reason": "It is cold."}'
    history: list[Request] = field(default_factory=list)
    hold: asyncio.Event | None = None
    tokens: int = 10
    asked: threading.Event = field(default_factory=threading.Event)

    async def answer(self, request: Request, watch: Watch | None = None) -> Reply:
        self.history.append(request)
        self.asked.set()
        if self.hold is not None:
            await self.hold.wait()
        answer = self.reply(request)
        if isinstance(answer, Exception):
            raise answer
        return Reply(text=answer, usage=Usage(prompt=self.tokens, completion=1), cost=0.01)

    async def warm(self) -> None:
        """Nothing has to be loaded."""

    def prompts(self, *tasks: str) -> list[str]:
        """All that was asked in these tasks, or in any."""
        return [text_of(request) for request in self.history if not tasks or request.task.name in tasks]


def text_of(request: Request) -> str:
    return "\n".join(part for message in request.messages for part in message.parts if isinstance(part, str))


class Shelf:
    """A knowledge base in which one thing is found."""

    async def answer(self, query: Query, embedding: str) -> tuple[Hit, ...]:
        return (Hit(id="one", similarity=1.0, record={}),)

    @property
    def lessons(self) -> Self:
        return self

    def teach(self, run: str, path: str, lesson: Lesson) -> None:
        raise AssertionError("nothing is learned here")


class Sight(Capabilities):
    async def sees(self, spec: ModelSpec) -> bool:
        return False

    async def address(self, spec: ModelSpec) -> str:
        return ""


@dataclass
class Bench:
    """A store with a runner on it, as a process would have."""

    folder: Path
    model: Scripted = field(default_factory=Scripted)
    online: Model | None = None
    """Who answers in place of `model`, over a network."""
    streaming: bool = False
    procedures: Mapping[str, Procedure] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.mkdir(exist_ok=True)
        self.database = open_store(Settings(home=self.folder).database)
        self.store = RunStore(self.database)
        self.answers = AnswerStore(self.database)
        self.shelf = Shelf()
        self.procedures = self.procedures or {"toy": toy(self.folder)}
        self.writers: list[Writer] = []
        """One a runner, as each process has its own."""
        self.runner = self.new_runner()
        self.pool = ModelPool(None)  # type: ignore[arg-type]  # no picture is asked of it

    def record(self, run: str) -> Record:
        """Read a run as it stands, as a courthouse does."""
        return self.runner.record(run)

    def new_runner(self) -> Runner:
        async def warm(procedure: Procedure, setup: Setup) -> None:
            """Nothing has to be loaded."""

        writer = Writer(self.database)
        self.writers.append(writer)
        self.asker = Asker(self.answers, self.online or self.model, writer)
        return Runner(
            store=self.store,
            procedures=self.procedures,
            asker=self.asker,
            writer=writer,
            knowledge=self.shelf,
            capabilities=Sight(),
            people=None,
            warm=warm,
            streaming=self.streaming,
            rings=lambda run, state: None,
        )

    def start(self, setup: ToySetup | None = None, *, seed: int = 0, parent: str | None = None) -> str:
        setup = (setup or ToySetup()).model_copy(update={"model": ModelSpec(id="scripted")})
        return self.store.create("toy", CASE, setup, seed, parent=parent)

    def hear(self, setup: ToySetup | None = None, *, seed: int = 0, control: Control | None = None) -> Record:
        """Drive a new run until it settles."""
        return self.go_on(self.start(setup, seed=seed), control=control)

    def go_on(self, run: str, budget: Budget | None = None, control: Control | None = None) -> Record:
        """Go on with a run until it settles; with another budget, if one is given."""
        if budget is not None:
            self.store.replace_setup(run, self.runner.record(run).setup.model_copy(update={"budget": budget}))
        self.runner.go(run, control)
        self.runner.wait(run, 30)
        return self.runner.record(run)

    def let_go(self, run: str) -> None:
        """Let answers through, and wait until all that were under way have been dealt with."""

        async def go() -> None:
            self.model.hold.set()
            await self.asker.finish()
            while self.runner.open_calls(run):
                await asyncio.sleep(0)
            while (active := self.runner._active.get(run)) and active.gate and not active.idle:
                await asyncio.sleep(0)  # what has come of them is on disk
            await self.writers[-1].settled()

        self.runner.do(go()).result(10)
        self.model.hold = None

    def close(self) -> None:
        if self.model.hold is not None:
            self.runner.call(self.model.hold.set)  # a test that failed half-way still holds them
        self.runner.close()
        for writer in self.writers:
            writer.close()
        self.database.close()


def side_by_member(request: Request) -> str:
    """Juror 1 starts alone with the seller and joins the others in round 2."""
    task = request.task
    seller = request.tag.endswith("juror-01") and task.round == 1
    return json.dumps({"side": "seller" if seller else "buyer", "reason": f"round {task.round}"})
