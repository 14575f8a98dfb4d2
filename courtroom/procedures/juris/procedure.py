"""Algorithm 1: the jury decides on a length, then on each sentence; the chief editor makes one pass. What JURIS declares of itself."""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median_low
from typing import Any

from courtroom import Document, Member, Procedure, Tallied, Verdict
from courtroom.engine.court import chance
from courtroom.evaluation.summaries import grounding
from courtroom.procedures.declared import declared
from courtroom.procedures.juris import offline, tasks, views
from courtroom.procedures.juris.assessment import Hearing, assess
from courtroom.procedures.juris.baselines import without_jury
from courtroom.procedures.juris.kept import added
from courtroom.procedures.juris.setup import JurisSetup, members
from courtroom.procedures.juris.tasks import Letter, joined
from courtroom.text.words import sentences


async def deliberate(court: Hearing) -> Verdict:
    if court.setup.writer:
        written = await without_jury(court)
        return verdict(court.case, (), written, await assess(court, written))

    await court.stage("Length", "length")
    target = await length(court)

    accepted: list[str] = []
    for step in range(1, target + 1):
        await court.stage(f"Sentence {step}", "sentence")
        sentence = await choose(court, step, target, tuple(accepted))
        if sentence is None:
            text = f"No generator had a sentence after the {len(accepted)}. accepted one: the text ends there."
            court.note("short", text)
            break
        accepted.append(sentence)
    if not accepted:
        court.needs(0, len(court.panel("generator")), "generators had a sentence")

    final = tuple(accepted)
    if court.setup.variant != "no-editor":
        await court.stage("Editing", "editing")
        final = await edit(court, final)
    return verdict(court.case, tuple(accepted), final, await assess(court, final))


async def length(court: Hearing) -> int:
    """N: the length that most jurors propose; of several, the one nearest the median, the shorter first; then the range."""
    jury, setup, longest = seated(court, 0), court.setup, len(sentences(court.case.text))
    told = (setup.truncated(1, court.case), setup.truncated(longest, court.case)) if setup.tell_target else None

    async def propose(juror: Member) -> tasks.Length:
        task = tasks.ProposeLength(document=court.case, viewpoint=viewpoint(court, juror), seat=juror.seat, told=told)
        return await court.ask(juror, task)

    proposals = await court.all(map(propose, jury))
    proposed = [proposal.sentences for proposal in proposals if proposal is not None]
    court.needs(len(proposed), len(jury), "jurors proposed a length")
    wanted = most_proposed(proposed)
    target = court.setup.truncated(wanted, court.case)
    if target != wanted:
        court.note("range", f"The jury decided on a length of {wanted}; the range makes it {target}.")
    return target


def most_proposed(proposed: Sequence[int]) -> int:
    """The majority rule for lengths: the most frequent; of several, the one nearest the (lower) median, then the shorter."""
    counts = Counter(proposed)
    often, middle = max(counts.values()), median_low(proposed)
    return min((n for n in counts if counts[n] == often), key=lambda n: (abs(n - middle), n))


async def choose(court: Hearing, step: int, target: int, accepted: tuple[str, ...]) -> str | None:
    """s_t: both generators propose (Eq. 1), the jury criticises and votes, the majority takes it (Eq. 2)."""
    letters: tuple[Letter, Letter] = ("A", "B")
    known: dict[str, Any] = {"document": court.case, "target": target}

    async def candidate(one: Member, letter: Letter) -> tasks.Candidate:
        view, passages = viewpoint(court, one), court.setup.passages
        task = tasks.NextSentence(**known, viewpoint=view, accepted=accepted, letter=letter, passages=passages)
        return await court.ask(one, task)

    candidates = await court.all(map(candidate, court.panel("generator"), letters))
    offered = {letter: one.sentence for letter, one in zip(letters, candidates, strict=True) if one is not None}
    if len(set(offered.values())) < len(letters):
        if offered:
            court.note(f"unopposed/{step}", f"Sentence {step} was taken without a ballot: there was one candidate.")
        return next(iter(offered.values()), None)

    async def ballot(juror: Member) -> None:
        order = in_order_by_lot(court.seed, step, juror.id) if court.setup.order == "lot" else letters
        first, second = (offered[letter] for letter in order)
        own: dict[str, Any] = {"viewpoint": viewpoint(court, juror), "seat": juror.seat}
        own["accepted"] = accepted if court.setup.jurors_read_accepted else ()
        task = tasks.CastBallot(**known, **own, first=first, second=second)
        cast = await court.try_ask(juror, task)
        said = dict(zip(order, (cast.on_first, cast.on_second), strict=True)) if cast else {}
        choice = order[0 if cast.vote == "first" else 1] if cast else None
        court.vote(juror, choice, tuple(f"{letter}: {said[letter]}" for letter in letters if said), anew=True)

    await court.all(ballot(juror) for juror in seated(court, step))
    return offered[winner(court, step, offered, court.tally(letters, consensus=0.5))]


def in_order_by_lot(seed: int, step: int, juror: str) -> tuple[Letter, Letter]:
    """Return whose candidate a juror reads first and whose second."""
    return ("A", "B") if chance(seed, "order", str(step), juror).random() < 0.5 else ("B", "A")


def winner(court: Hearing, step: int, offered: dict[Letter, str], tally: Tallied) -> Letter:
    """The letter with more votes; a tie goes to the candidate that the document supports better, then to A."""
    a, b = tally.counts["A"], tally.counts["B"]
    if a != b:
        return "A" if a > b else "B"
    shares = {letter: grounding(sentence, court.case.text).share for letter, sentence in offered.items()}
    taken: Letter = "B" if shares["B"] > shares["A"] else "A"
    court.note(
        f"tie/{step}",
        f"Sentence {step} was a tie; candidate {taken} was taken, as the document supports "
        f"{shares[taken]:.0%} of its words ({shares['B' if taken == 'A' else 'A']:.0%} of the other's).",
    )
    return taken


async def edit(court: Hearing, accepted: tuple[str, ...]) -> tuple[str, ...]:
    """S*: one pass by the chief editor; without a text that keeps to them the accepted sentences stay as they are."""
    task = tasks.Edit(document=court.case, accepted=accepted, checked=court.setup.check_edit)
    edited = await court.try_ask(court.member("editor"), task)
    if edited is None:
        text = "The chief editor gave no text that says what the jury accepted and nothing else"
        court.note("unedited", f"{text}: the accepted sentences stand as they are.")
        return accepted
    return edited.sentences


def seated(court: Hearing, step: int) -> tuple[Member, ...]:
    """Who votes at a step: all jurors, or those drawn for it (section 4.3, dynamic jury)."""
    jury = court.panel("juror")
    if court.setup.jury == "fixed":
        return jury
    # By a lot of each one's own: one seat more, or one more in the pool, changes nothing about the others.
    lots = {juror.id: court.random("jury", str(step), juror.id).random() for juror in jury}
    drawn = set(sorted(lots, key=lots.__getitem__)[: court.setup.jury_size])
    return tuple(juror for juror in jury if juror.id in drawn)


def viewpoint(court: Hearing, member: Member) -> str:
    """What a member looks at first, as the setup states it; mostly nothing."""
    return court.setup.points_of_view.get(member.id, "")


def verdict(
    document: Document, accepted: tuple[str, ...], final: tuple[str, ...], assessment: Mapping[str, Any]
) -> Verdict:
    """The final text, with what in it goes beyond the accepted sentences or, without a jury, beyond the document. `assessment`:
    the scores, by the way in which they were given."""
    text = joined(final)
    said = sentences(text)
    unsupported = [
        one
        for one in said
        if (added(one, accepted, document) if accepted else not grounding(one, document.text).supported)
    ]
    outcome = f"A summary of {len(said)} sentence{'s' * (len(said) != 1)}"
    note = f"{len(unsupported)} of its sentences may lack support; see the tab Summary." if unsupported else ""
    details = {"summary": text, "accepted": list(accepted), "unsupported": unsupported, **assessment}
    return Verdict(outcome=outcome, summary=text, note=note, details=details)


def at_most(case: Document, setup: JurisSetup) -> int:
    """Upper bound on the calls: lengths, then two candidates and a ballot a sentence, editor and assessor."""
    assessed = 3 * ("fine-grained" in setup.ways) + ("holistic" in setup.ways)
    if setup.writer:
        return 1 + 2 * setup.refinements * (setup.variant == "summit") + assessed
    longest = setup.truncated(sys.maxsize, case)
    return setup.jury_size + longest * (2 + setup.jury_size) + (setup.variant == "juris") + assessed


JURIS = Procedure(
    **declared(__file__, offline.METHODS, draws=(views.ballots, views.summary, views.jurors, views.measures)),
    setup=JurisSetup,
    members=members,
    deliberate=deliberate,
    at_most=at_most,
    speaks_for=lambda record, call: views.LETTERS.get(call.member) if call.task == tasks.NextSentence.name else None,
)
