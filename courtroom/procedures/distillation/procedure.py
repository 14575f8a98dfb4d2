"""Norms from precedents, one after the other, each with the closest earlier norms in view (Eq. 11 to 13)."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from courtroom.cases.precedent import Precedent, PrecedentBatch
from courtroom.engine.blocks import Block, Card, Cards
from courtroom.engine.court import Court
from courtroom.engine.events import Learned, Verdict
from courtroom.engine.knobs import Group, declared
from courtroom.engine.paper import changes
from courtroom.engine.procedure import Ending, Preset, Procedure, Role, StageKind, View
from courtroom.engine.record import Record
from courtroom.engine.setup import Setup
from courtroom.knowledge.lessons import Lesson, Put
from courtroom.knowledge.search import Hit, Search
from courtroom.procedures.distillation.offline import METHODS
from courtroom.procedures.distillation.paper import PAPER
from courtroom.procedures.distillation.tasks import DeriveNorms


class DistillationSetup(Setup):
    """How norms are distilled."""

    closest: int = Field(
        default=3,
        title="Earlier precedents in view",
        ge=0,
        le=10,
        json_schema_extra=declared(group=Group.LOOK, first=True),
    )


async def distil(court: Court[PrecedentBatch, DistillationSetup]) -> Verdict:
    """Each precedent's norms join the base before the next one is looked at, so that later norms build on earlier ones."""
    analyst = court.member("analyst")
    learned = 0
    for number, precedent in enumerate(court.case.precedents, start=1):
        await court.stage(f"Precedent {number}", "precedent")
        near: tuple[Hit, ...] = ()
        if court.setup.closest:
            query = Search(
                collection="precedents", text=precedent.dispute, k=court.setup.closest, exclude=(precedent.id,)
            )
            near = await court.retrieve("earlier", query)
        reflection = await court.try_ask(analyst, _question(precedent, near))
        if reflection is not None:
            better = precedent.model_copy(update={"norms": reflection.reflection_result})
            put = Put(collection="precedents", record=better.model_dump(mode="json"))
            await court.learn("norms", Lesson(phase="norms", why=f"Distilled from {precedent.title}.", ops=(put,)))
            learned += 1
    return Verdict(outcome=f"{learned} of {len(court.case.precedents)} precedents have norms", counts={})


def _question(precedent: Precedent, near: tuple[Hit, ...]) -> DeriveNorms:
    return DeriveNorms(
        dispute=precedent.dispute,
        category=precedent.category,
        language=precedent.language,
        buyer_views=tuple(o.text for o in precedent.opinions if o.side == "buyer"),
        seller_views=tuple(o.text for o in precedent.opinions if o.side == "seller"),
        winner=precedent.winner,
        earlier_norms=tuple(norm for hit in near for norm in hit.record["norms"]),
    )


def _learned(record: Record) -> dict[str, list[Block]]:
    learned = [op.record for event in record.of(Learned) for op in event.lesson.ops if isinstance(op, Put)]
    cards = tuple(
        Card(str(one["title"]), items=tuple(one["norms"]), facts=(("Category", str(one["category"])),))
        for one in learned
    )
    return {"": [Cards(cards, empty="Norms appear here as they are distilled.")]}


DISTILLATION = Procedure(
    name="distillation",
    title="Norm distillation",
    summary="Turns precedents with their jurors' opinions into norms, the closest earlier norms in view.",
    paper="Sun et al. (2026), CyberJurors, appendix B.2, arXiv:2605.28369",
    seating="rows",
    case_kind="precedents",
    setup=DistillationSetup,
    roles=(Role("analyst", "Analyst", "Distils norms from a precedent."),),
    stages=(StageKind("precedent", "Precedent", "One precedent's norms are distilled."),),
    choices=(),
    tasks=(DeriveNorms,),
    offline=METHODS,
    prompts=Path(__file__).parent / "prompts",
    deliberate=distil,
    looks_in=("precedents",),
    at_most=lambda case, setup: len(case.precedents),
    views=(View("norms", "Norms", ":material/auto_stories:", "What was learned.", _learned),),
    paper_settings=PAPER,
    ending=Ending("Norms", "What was learned", what_if="What would change these norms?"),
    presets=(Preset("Paper", "The paper's temperature and longest answer.", changes(PAPER)),),
)
