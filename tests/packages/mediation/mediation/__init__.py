"""Mediation: buyer and seller make offers, a mediator proposes; it ends when both accept, or in deadlock."""

import random
from pathlib import Path
from typing import Literal

from pydantic import Field

from courtroom import (
    Answer,
    Choice,
    Court,
    Dispute,
    Preset,
    Procedure,
    Record,
    Role,
    Setup,
    StageKind,
    Table,
    Task,
    Verdict,
    View,
)

Who = Literal["buyer", "seller", "mediator"]


class MediationSetup(Setup):
    """What a person can choose before a run."""

    rounds: int = Field(default=4, title="Rounds at most", ge=1, le=8, description="After them there is a deadlock.")


class Offer(Answer):
    """What a party or the mediator says, the reasons first."""

    reasons: str = Field(min_length=1, max_length=2000)
    refund: int = Field(ge=0, le=100, description="In percent of the price.")
    accepts: bool = Field(description="Whether the mediator's last proposal is accepted.")


class Said(Offer):
    """An offer as the others read it."""

    who: Who


class Move(Task[Offer]):
    """What do you offer, and do you accept?"""

    name, title = "move", "Offer"
    case: Dispute
    who: Who
    moves: tuple[Said, ...]
    number: int
    rounds: int


async def deliberate(court: Court[Dispute, MediationSetup]) -> Verdict:
    """The mediator proposes, the parties answer, until both accept a proposal."""
    moves: tuple[Said, ...] = ()

    async def move(who: Who, number: int) -> Offer:
        nonlocal moves
        task = Move(case=court.case, who=who, moves=moves, number=number, rounds=court.setup.rounds)
        offer = await court.ask(court.member(who), task)
        moves += (Said(who=who, **offer.model_dump()),)
        return offer

    for number in range(1, court.setup.rounds + 1):
        await court.stage(f"Round {number}", "round")
        proposal = await move("mediator", number)
        for party in ("buyer", "seller"):
            offer = await move(party, number)
            court.vote(court.member(party), "agreement" if offer.accepts else "deadlock", [offer.reasons])
        tally = court.tally(("agreement", "deadlock"), consensus=0.5)
        if tally.counts["agreement"] == 2:
            return Verdict(outcome="agreement", counts=tally.counts, summary=f"Both accept {proposal.refund} percent.")
    return Verdict(outcome="deadlock", counts=tally.counts, summary=f"No proposal in {number} rounds was accepted.")


def move_offline(task: Move, draw: random.Random) -> Offer:
    """Each party gives way by ten percent a round; the mediator proposes the middle of the last offers."""
    wish = {"buyer": 105 - 10 * task.number, "seller": 10 * task.number - 5}
    last = {said.who: said.refund for said in task.moves}
    if task.who == "mediator":
        middle = (last.get("buyer", 100) + last.get("seller", 0)) // 2
        return Offer(reasons="It lies in the middle of what both offer.", refund=middle, accepts=False)
    near = abs(wish[task.who] - last["mediator"]) <= 15
    return Offer(reasons=f"The {task.who} can give way a little.", refund=wish[task.who], accepts=near)


def table_of_offers(record: Record) -> dict[str, tuple[Table]]:
    """Who offered what in each round."""
    refunds = {(call.stage, call.member): call.value["refund"] for call in record.calls if call.value}
    order = ("seller", "mediator", "buyer")
    rows = tuple((stage.name, *(refunds.get((stage.path, who)) for who in order)) for stage in record.stages)
    return {"": (Table(("Round", "Seller", "Mediator", "Buyer"), rows, title="Refund in percent"),)}


OFFERS = View("offers", "Offers", ":material/handshake:", "How the offers came together.", table_of_offers)
PROCEDURE = Procedure(
    name="mediation",
    title="Mediation",
    summary="Two parties and a mediator look for a refund that both accept.",
    paper="",
    case_kind="dispute",
    setup=MediationSetup,
    roles=(
        Role("buyer", "Buyer", "Wants the money back.", votes=True),
        Role("seller", "Seller", "Wants to keep it.", votes=True),
        Role("mediator", "Mediator", "Proposes and decides nothing."),
    ),
    stages=(StageKind("round", "Round", "A proposal and two answers."),),
    choices=(Choice("agreement", "Agreement", 0, "circle", "●"), Choice("deadlock", "Deadlock", 1, "square", "■")),
    tasks=(Move,),
    offline={Move: move_offline},
    prompts=Path(__file__).parent / "prompts",
    deliberate=deliberate,
    at_most=lambda case, setup: 3 * setup.rounds,
    views=(OFFERS,),
    presets=(Preset("Patient", "Four rounds."), Preset("Hurried", "Two rounds.", {"rounds": 2})),
)
