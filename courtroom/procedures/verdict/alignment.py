"""Expert alignment: a supervised set, and preference pairs through a reflection model's advice (VERDICT, section 3.3)."""

import json
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any, Literal

from pydantic import Field

from courtroom import Court, Medium, ModelSpec, Procedure, Record, Setup, Strict, Verdict, knob
from courtroom.cases.criminal import CriminalCase, DraftBatch, FirstDraft
from courtroom.declarations.blocks import Block, Diff, Table, Text
from courtroom.declarations.parts import Export, Source
from courtroom.engine.answers import AnswerStore
from courtroom.law import Statute
from courtroom.models.prompts import describe
from courtroom.procedures.declared import declared
from courtroom.procedures.verdict.offline import ALIGNING
from courtroom.procedures.verdict.setup import VerdictSetup, as_in_the_paper
from courtroom.procedures.verdict.tasks import DraftJudgment, DraftOpinion, ReflectOnDraft, Turn

FILE = "adapter.json"


class Adapter(Strict):
    """LoRA, supervised tuning (SFT) and preference tuning (DPO). Where no source is named, the value is ours."""

    base_model: str = knob(
        "Qwen/Qwen2.5-7B-Instruct",
        "Base model",
        "A model of Hugging Face, or a folder (section 4.1.2).",
        min_length=1,
        max_length=200,
    )
    rank: int = knob(64, "LoRA rank", "Appendix C.", ge=1, le=1024)
    alpha: int = knob(32, "LoRA alpha", "Appendix C.", ge=1, le=1024)
    dropout: float = knob(0.05, "LoRA dropout", "Appendix C.", ge=0, lt=1)
    target_modules: str = knob("all-linear", "Layers with an adapter", "The paper names none.", max_length=200)
    epochs: int = knob(2, "Epochs", "Appendix C, for SFT.", ge=1, le=100)
    batch_size: int = knob(64, "Batch size", "Appendix C.", ge=1, le=4096)
    sft_learning_rate: float = knob(1e-5, "Learning rate, SFT", "Appendix C.", gt=0, le=1)
    dpo_learning_rate: float = knob(5e-5, "Learning rate, DPO", "Appendix C.", gt=0, le=1)
    dpo_beta: float = knob(0.1, "DPO beta", "The paper names none; TRL's default.", gt=0, le=10)
    max_length: int = knob(4096, "Longest sequence (tokens)", "Appendix C.", ge=16, le=1_000_000)
    optimizer: Literal["adamw_torch", "adamw_torch_fused"] = knob("adamw_torch", "Optimizer", "AdamW (appendix C).")
    scheduler: Literal["cosine", "linear", "constant"] = knob("cosine", "Scheduler", "Appendix C.")


Alignment = Court[DraftBatch, "AlignmentSetup"]


class AlignmentSetup(Setup):
    """Which models reflect and correct, set by role `reflector` and `expert`; and how the adapter is to be trained."""

    model: ModelSpec = Field(default_factory=as_in_the_paper, title="Model")
    rounds: int = knob(
        3,
        "Corrections at most",
        "Of one draft: advice and a new draft, until it is valid. The paper calls this iterative and gives no number. 0: none, where the "
        "demonstrations alone are wanted.",
        ge=0,
        le=10,
    )
    adapter: Adapter = knob(Adapter(), "Training the adapter", varied=False)


async def align(court: Alignment) -> Verdict:
    """Each wrong first draft is corrected; the expert sees the advice, not the real articles."""
    corrected = wrong = 0
    for number, (blind, known) in enumerate(zip(court.case.drafts, court.unsealed.drafts, strict=True), start=1):
        if known.right:
            continue
        wrong += 1
        await court.stage(f"Draft {number}", "correction")
        (better,) = await court.all((correct(court, blind, known),))
        corrected += bool(better)
    if wrong == 0:
        await court.stage("Nothing to correct", "correction")
    right = len(court.case.drafts) - wrong
    return Verdict(
        outcome=f"{right} demonstrations, {corrected} preference pairs",
        summary=f"Of {len(court.case.drafts)} first drafts {right} were right; {corrected} of the {wrong} wrong ones were corrected.",
    )


async def correct(court: Alignment, blind: FirstDraft, known: FirstDraft) -> bool:
    """Reflect and draft again until the draft is valid (section 3.3.2); whether it became so. Raises `Abstained`:
    an answer is missing."""
    draft = DraftJudgment(predicted_article=known.predicted_article, explanation=known.explanation)
    given: dict[str, Any] = {"case": blind.case, "points": blind.points, "statutes": blind.statutes}
    charges = (known.case.gold.charges or ()) if known.case.gold else ()
    real: dict[str, Any] = {"real_articles": real_articles(known), "real_charges": charges}
    turns: tuple[Turn, ...] = ()
    for number in range(1, court.setup.rounds + 1):
        step = str(number) if number > 1 else ""
        task = ReflectOnDraft(**given, draft=draft, turns=turns, **real)
        advice = await court.ask(court.member("reflector"), task, step)
        turns = (*turns, Turn(draft=draft, feedback=advice.advice))
        again = DraftOpinion(**given, turns=turns, reasons_first=blind.reasons_first)
        draft = await court.ask(court.member("expert"), again, step)
        if valid(draft.predicted_article, known):
            return True
    return False


def real_articles(draft: FirstDraft) -> tuple[int, ...]:
    return (draft.case.gold.relevant_articles or ()) if draft.case.gold else ()


def valid(article: int, draft: FirstDraft) -> bool:
    """V(y): the article is one of the real judgment's, also where the look-up has missed it (Eq. 6)."""
    return article in real_articles(draft)


def first_drafts(records: Iterable[Record], teacher: str = "") -> Iterable[FirstDraft]:
    """The first drafts of hearings whose real judgment is known; of several on one case the last. `teacher`: the model whose drafts are read; empty: any."""
    found: dict[str, FirstDraft] = {}
    for record in records:
        case, calls = record.case, {call.task: call for call in reversed(list(record.calls)) if call.value}
        draft, points, short = (calls.get(task) for task in ("draft", "extract", "rerank"))
        if not isinstance(case, CriminalCase) or case.gold is None or not case.gold.relevant_articles:
            continue
        if draft is None or points is None or short is None or teacher not in ("", draft.model):
            continue
        looked = (one for one in record.retrievals if getattr(one.query, "collection", "") == "statutes")
        found_there = (Statute.model_validate(hit.record) for one in looked for hit in one.hits)
        known = {statute.id: statute for statute in found_there}
        chosen = (short.value or {})["articles"]
        value = draft.value or {}
        found[case.id] = FirstDraft(
            run=record.run.id,
            # As it was asked first: what was said of an answer that could not be read is no part of it.
            key=draft.keys[0],
            case=case,
            points=tuple((points.value or {})["points"]),
            statutes=tuple(s for number in chosen for s in known.values() if s.number == number),
            predicted_article=value["predicted_article"],
            explanation=value["explanation"],
            reasons_first=isinstance(record.setup, VerdictSetup) and record.setup.reasons_first,
        )
    return found.values()


def supervised(record: Record, answers: AnswerStore) -> str:
    """D_train as JSONL in TRL's conversational form: `messages` with the assistant's answer last."""
    return lines(
        {"messages": [*prompt(draft, answers), answered(draft, draft.predicted_article, draft.explanation)]}
        for draft in drafts_of(record)
        if draft.right
    )


def preferences(record: Record, answers: AnswerStore) -> str:
    """D_pref as JSONL in TRL's conversational form: `prompt`, `chosen`, `rejected` (Eq. 6)."""
    return lines(
        {
            "prompt": prompt(draft, answers),
            "chosen": [answered(draft, better["predicted_article"], better["explanation"])],
            "rejected": [answered(draft, draft.predicted_article, draft.explanation)],
        }
        for draft, better in pairs(record)
    )


def pairs(record: Record) -> Iterator[tuple[FirstDraft, dict[str, Any]]]:
    """Wrong first drafts with their corrections, where these are valid."""
    for number, draft in enumerate(drafts_of(record), start=1):
        again = [call.value for call in record.calls if call.stage == f"draft-{number}" and call.task == "draft"]
        if again and again[-1] and valid(again[-1]["predicted_article"], draft):
            yield draft, again[-1]


def drafts_of(record: Record) -> tuple[FirstDraft, ...]:
    return record.case.drafts if isinstance(record.case, DraftBatch) else ()


def adapter(record: Record, answers: AnswerStore) -> str:
    settings = record.setup.adapter if isinstance(record.setup, AlignmentSetup) else Adapter()
    return settings.model_dump_json(indent=1) + "\n"


def prompt(draft: FirstDraft, answers: AnswerStore) -> list[dict[str, str]]:
    """The messages that the judge was sent; a picture is replaced by its description."""
    sent = []
    for message in answers.request(draft.key):
        number = count()
        parts = (describe(part, next(number)) if isinstance(part, Medium) else part for part in message.parts)
        sent.append({"role": message.role, "content": "\n".join(parts)})
    return sent


def answered(draft: FirstDraft, article: int, explanation: str) -> dict[str, str]:
    """An assistant's message with a draft, its fields in the order in which that run asked for them."""
    fields: dict[str, Any] = {"predicted_article": article, "explanation": explanation}
    content = dict(reversed(fields.items())) if draft.reasons_first else fields
    return {"role": "assistant", "content": json.dumps(content, ensure_ascii=False)}


def lines(rows: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def overview(record: Record) -> dict[str, list[Block]]:
    corrected = {draft.run: better for draft, better in pairs(record)}
    rows: list[tuple[str | int, ...]] = []
    diffs: list[Block] = []
    for draft in drafts_of(record):
        real = ", ".join(map(str, real_articles(draft)))
        use = "demonstration" if draft.right else "preference pair" if draft.run in corrected else "left out"
        rows.append((draft.case.title, draft.predicted_article, real, use))
        if better := corrected.get(draft.run):
            diffs.append(Diff(draft.explanation, str(better["explanation"]), f"{draft.case.title}: loser and winner"))
    columns = ("Case", "First draft", "Real articles", "Used as")
    return {"": [Table(columns, tuple(rows)), *(diffs or [Text("No draft has been corrected yet.")])]}


ALIGNMENT = Procedure(
    **declared(__file__, ALIGNING, draws=(overview,)),
    setup=AlignmentSetup,
    deliberate=align,
    at_most=lambda case, setup: 2 * setup.rounds * sum(not draft.right for draft in case.drafts),
    exports=(
        Export("sft.jsonl", "Supervised set (TRL SFT)", supervised),
        Export("dpo.jsonl", "Preference pairs (TRL DPO)", preferences),
        Export(FILE, "Settings of the adapter's training", adapter),
    ),
    teaches_from=Source(
        procedure="verdict",
        title="Training data for an expert",
        help="Right first drafts become demonstrations; wrong ones are reflected upon and drafted again, and where that "
        "corrects them they become preference pairs. Both are exported for TRL from the run's Share menu, with the settings "
        "of the training.",
        parts="first drafts with a known judgment",
        none="There is no VERDICT run with a first draft and a known judgment. Hear some cases first.",
        read=first_drafts,
        batch=lambda drafts: DraftBatch(
            id="drafts", title=f"Training data from {len(drafts)} first drafts", drafts=tuple(drafts)
        ),
    ),
)
