"""Norms from precedents, one after the other, each with the norms of the closest precedents that have any in view (Eq. 11 to 13)."""

import random
import re
from typing import Any

from pydantic import Field

from courtroom import Answer, Court, Hit, Lesson, Procedure, Put, Record, Search, Sentence, Setup, Task
from courtroom.cases.dispute import SIDES, PrecedentBatch, Side
from courtroom.declarations.blocks import Block, Card, Cards
from courtroom.declarations.knobs import Group, knob, knowledge_base
from courtroom.engine.events import Learned, Verdict
from courtroom.judging.explained import said
from courtroom.knowledge.bases import BaseName, kept_as
from courtroom.knowledge.index import Filter
from courtroom.procedures.declared import declared
from courtroom.text.words import central, sentences


class Reflection(Answer):
    """n (Eq. 11, 13): norms distilled from a case (prompt E.9)."""

    reflection_result: tuple[Sentence, ...] = Field(
        min_length=2, max_length=4, description="Which norms follow from the case, each in a sentence?"
    )


class DeriveNorms(Task[Reflection]):
    """Norms from a precedent and its jurors' opinions, the closest earlier norms in view (Eq. 13)."""

    name, title = "reflect", "Norm distillation"
    dispute: str
    category: str
    language: str
    buyer_views: tuple[str, ...] = ()
    seller_views: tuple[str, ...] = ()
    winner: Side
    earlier_norms: tuple[str, ...] = ()


def reflect(task: DeriveNorms, draw: random.Random) -> Reflection:
    """The winners' most central opinions with figures taken out, beside the closest earlier norm."""
    language = task.language
    views = task.buyer_views if task.winner == "buyer" else task.seller_views
    found = (sentence for text in (*views, *task.earlier_norms[:2]) for sentence in sentences(text))
    pool = [re.sub(r"\d[\d.,%]*", said(language, "some"), sentence) for sentence in found]
    general = said(language, "norm", category=task.category, side=said(language, task.winner))
    norms = tuple(dict.fromkeys((*central(pool, 3), general)))
    return Reflection(reflection_result=norms[:4] if len(norms) > 1 else (*norms, task.dispute[:200]))


class DistillationSetup(Setup):
    """How norms are distilled."""

    base: BaseName = knowledge_base(
        "Whose precedents are given norms: `bundled`, or the name of the dataset whose disputes were made precedents."
    )
    closest: int = knob(3, "Earlier precedents in view", group=Group.LOOK, first=True, ge=0, le=10)


async def distil(court: Court[PrecedentBatch, DistillationSetup]) -> Verdict:
    """Each precedent's norms join the base before the next one is looked at, so that later norms build on earlier ones."""
    analyst = court.member("analyst")
    learned = 0
    for number, precedent in enumerate(court.case.precedents, start=1):
        await court.stage(f"Precedent {number}", "precedent")
        near: tuple[Hit, ...] = ()
        if court.setup.closest:
            where: dict[str, Any] = {"collection": "precedents", "base": court.setup.base, "k": court.setup.closest}
            with_norms = Filter(with_norms=True)
            query = Search(**where, text=precedent.dispute, exclude=(precedent.id,), only=with_norms)
            near = await court.retrieve("earlier", query)
        told = precedent.model_dump(include={"dispute", "category", "language"})
        told |= {f"{side}_views": tuple(o.text for o in precedent.opinions if o.side == side) for side in SIDES}
        norms = tuple(norm for hit in near for norm in hit.record["norms"])
        question = DeriveNorms(**told, winner=precedent.winner, earlier_norms=norms)
        reflection = await court.try_ask(analyst, question)
        if reflection is not None:
            better = precedent.model_copy(update={"norms": reflection.reflection_result})
            put = Put(collection=kept_as("precedents", court.setup.base), record=better.model_dump(mode="json"))
            await court.learn("norms", Lesson(phase="norms", why=f"Distilled from {precedent.title}.", ops=(put,)))
            learned += 1
    return Verdict(outcome=f"{learned} of {len(court.case.precedents)} precedents have norms", counts={})


def _learned(record: Record) -> dict[str, list[Block]]:
    learned = [op.record for event in record.of(Learned) for op in event.lesson.ops if isinstance(op, Put)]
    cards = tuple(
        Card(str(one["title"]), items=tuple(one["norms"]), facts=(("Category", str(one["category"])),))
        for one in learned
    )
    return {"": [Cards(cards, empty="Norms appear here as they are distilled.")]}


DISTILLATION = Procedure(
    **declared(__file__, {DeriveNorms: reflect}, draws=(_learned,)),
    setup=DistillationSetup,
    deliberate=distil,
    at_most=lambda case, setup: len(case.precedents),
)
