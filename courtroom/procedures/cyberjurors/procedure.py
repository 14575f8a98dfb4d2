"""Algorithm 1 of the paper (appendix B.1), with IV-CoT's stages I to III (section 4.1). What CyberJurors declares of itself."""

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import count

from courtroom.cases.dispute import SIDES, Dispute, Evidence, Side
from courtroom.declarations.parts import Counting
from courtroom.declarations.setup import Member
from courtroom.engine.court import Court
from courtroom.engine.errors import Abstained
from courtroom.engine.events import Tallied, Verdict
from courtroom.engine.procedure import Procedure
from courtroom.judging.dispute_weights import CHOICES
from courtroom.judging.jurors import (
    BestReasons,
    CountSeen,
    Earlier,
    ask_alone,
    best_reasons,
    recalled,
    seeded,
    seen_count,
)
from courtroom.knowledge.bases import dispute_text, precedent_id
from courtroom.knowledge.index import ALL, Filter
from courtroom.knowledge.search import Hit, Rank, Search
from courtroom.media.medium import Medium
from courtroom.models.spec import PERSON
from courtroom.panel.personas import Persona
from courtroom.procedures.cyberjurors import tasks
from courtroom.procedures.cyberjurors.offline import METHODS
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup, juror_id, members, seat_of, without_one
from courtroom.procedures.cyberjurors.views import examination, piece_of, precedents, summaries
from courtroom.procedures.declared import declared

Hearing = Court[Dispute, CyberJurorsSetup]
Clues = tuple[tasks.Clue, ...]
Views = Mapping[str, tasks.Examination | None]
"""The examination of each juror by id; None where one could not be made."""


async def deliberate(court: Hearing) -> Verdict:
    """Hear a dispute: examination, rounds of discussion over the follow-graph, majority vote.

    An examination does not depend on the round, so it is made once (lines 7 to 23 are the same in every round);
    neither does what is retrieved (lines 25, 26). A first ballot that was set decides nothing: a free round follows.
    """
    if court.setup.variant == "nearest-precedents":
        return await by_precedents(court)
    views = dict(await examine_all(court)) if court.setup.examines_evidence else {}
    memories = await recall(court)
    summary: tasks.Summary | None = None
    opinions: dict[str, tasks.Opinion] = {}
    said: dict[str, tuple[Earlier, ...]] = {}
    counts: dict[str, int] = {}
    begins = seeded(court, court.panel("juror"), court.setup.begins, SIDES)
    known: tuple[str, ...] = ()

    for number in count(1):
        await court.stage(f"Round {number}", "round")
        setup, jury, before = court.setup, court.panel("juror"), opinions
        late = tuple(piece.id for piece in court.case.evidence if piece.late)
        new, known = tuple(name for name in late if number > 1 and name not in known), late
        views |= await examine_newcomers(court, views)
        if number > 1 and setup.examines_evidence:
            views |= await examine_again(court, views)
        given = await court.all(
            begin(court, juror, begins[juror.id])
            if number == 1 and juror.id in begins
            else judge(
                court,
                juror,
                number,
                views,
                memories,
                heard(court, juror, before),
                summary,
                said.get(juror.id, ()),
                new,
                counts,
            )
            for juror in jury
        )
        opinions = {juror.id: opinion for juror, opinion in zip(jury, given, strict=True) if opinion}
        for name, opinion in opinions.items():
            mine = Earlier(
                round=number,
                vote=opinion.verdict,
                words="\n".join(opinion.reasoning),
                by_lot=number == 1 and name in begins,
            )
            said[name] = (*said.get(name, ()), mine)
        tally = court.tally(SIDES, setup.consensus)
        counts = dict(tally.counts)
        ended = (tally.consensus or setup.single or number >= setup.rounds) and not (number == 1 and begins)
        if not setup.single:
            summary = await summarise(court, number, opinions, summary, views, memories, new, ended=ended)
        if ended:
            break

    await court.stage("Verdict", "verdict")
    return majority(tally, summary, opinions, setup.tie)


_CLOCK = re.compile(r"(?<![\d:.])(?:(\d{1,2}):)?(\d{1,3}):(\d{2}(?:\.\d+)?)(?![\d:])")
_MIDDLE = 0.5
"""Where a frame is labelled with its whole second, the one that is meant lies within the second from there on."""
_RANK = {"high": 0, "medium": 1, "low": 2}


def key_media(case: Dispute, clues: tuple[tasks.Clue, ...], limit: int | None) -> tuple[Medium, ...]:
    """The pictures, and of each video the frames, that findings name; no video is shown whole again. At most `limit` of them, if any, the
    most important findings first. Gives each medium once, in the order of the clues; a video with the moments of its frames."""
    named = sorted(_named(case, clues), key=lambda one: _RANK[one[0].importance])  # a stable order among equals
    kept = list(dict.fromkeys((medium.id, moment) for _, medium, moment in named))[:limit]
    media = {medium.id: medium for clue in clues for medium in _piece(case, clue)}
    moments = {name: tuple(sorted(m for other, m in kept if other == name and m is not None)) for name, _ in kept}
    return tuple(
        medium.model_copy(update={"moments": moments[name]}) for name, medium in media.items() if name in moments
    )


def seconds(timestamp: str) -> tuple[float, ...]:
    """The points in time that a timestamp names, in seconds: `00:05.4` is 5.4, `00:05` lies within its second, `00:05-00:09` is both."""
    return tuple(
        int(hours or 0) * 3600.0 + int(minutes) * 60 + float(rest) + (0 if "." in rest else _MIDDLE)
        for hours, minutes, rest in _CLOCK.findall(timestamp)
    )


def _named(case: Dispute, clues: tuple[tasks.Clue, ...]) -> Iterator[tuple[tasks.Finding, Medium, float | None]]:
    """Each finding with its picture, or with each of its frames; one that names no medium or no time has none."""
    for clue in clues:
        media = _piece(case, clue)
        for finding in clue.perception.visual_findings:
            if finding.media_index >= len(media):
                continue
            medium = media[finding.media_index]
            if medium.kind == "image":
                yield finding, medium, None
            else:
                yield from ((finding, medium, moment) for moment in seconds(finding.timestamp))


def _piece(case: Dispute, clue: tasks.Clue) -> tuple[Medium, ...]:
    return next(piece.media for piece in case.evidence if piece.id == clue.evidence_id)


async def examine_all(court: Hearing) -> Views:
    """The examination of each juror. Jurors do not wait for each other: each goes through its own chain."""
    jury = court.panel("juror")
    await court.stage("Evidence", "evidence")
    if examiners := court.panel("examiner"):
        (shared,) = await court.all(examine(court, eye) for eye in examiners)
        return {juror.id: shared for juror in jury}
    return await examine_apart(court, jury, {})


async def examine_newcomers(court: Hearing, views: Views) -> Views:
    """The examinations of those whom a person has seated since; where one was made for all, it is theirs too."""
    jury = court.panel("juror") if court.setup.examines_evidence else ()
    new = [juror for juror in jury if juror.id not in views]
    if court.setup.examination == "shared":
        shared = next(iter(views.values()), None)
        return {juror.id: shared for juror in new}
    made = {same_eyes(court, juror): views[juror.id] for juror in jury if juror.id in views}
    return await examine_apart(court, new, made)


async def examine_apart(
    court: Hearing, jury: Sequence[Member], made: Mapping[Hashable, tasks.Examination | None]
) -> dict[str, tasks.Examination | None]:
    """An examination of each juror's own; jurors who would be asked the same without sampling share one. `made`: examinations that
    there are already, by the eyes that made them."""
    eyes = {juror.id: same_eyes(court, juror) for juror in jury}
    first = {eyes[juror.id]: juror for juror in reversed(jury) if eyes[juror.id] not in made}
    found = await court.all(examine(court, eye) for eye in first.values())
    views = {**made, **dict(zip(first, found, strict=True))}
    if alike := len(jury) - len(first):
        court.note("alike", f"At temperature 0, {alike} examinations equal another juror's; they were asked once.")
    return {juror.id: views[eyes[juror.id]] for juror in jury}


def same_eyes(court: Hearing, juror: Member) -> Hashable:
    """Equal for jurors whose examinations differ by sampling alone, while the temperature is 0: the same model, the same prompts."""
    if juror.spec.temperature != 0 or juror.spec.id == PERSON:
        return juror.id
    return juror.spec.model_dump_json(), coloured(court, juror)


def coloured(court: Hearing, eye: Member) -> Persona | None:
    """The persona by which evidence is read (prompt E.2), where the setup wants that."""
    return eye.persona if court.setup.persona_examines else None


async def examine(court: Hearing, eye: Member) -> tasks.Examination:
    """Stages I to III for one pair of eyes. Each side is grounded apart, so that evidence does not mix."""
    focus = await court.ask(eye, tasks.ExtractFocus(case=court.case, persona=coloured(court, eye)))
    grounded = await court.all(ground_side(court, eye, focus, side) for side in SIDES)
    buyer, seller = (clues if clues is None else clues[0] for clues in grounded)
    if buyer is None or seller is None:
        raise Abstained("One side's evidence could not be examined, and half an examination would be unfair.")
    unseen = tuple(piece for clues in grounded if clues for piece in clues[1])
    if unseen and not (buyer or seller):
        raise Abstained("No piece of evidence could be looked at.")
    return await analyse(court, eye, focus, buyer, seller, unseen)


async def analyse(
    court: Hearing, eye: Member, focus: tasks.Focus, buyer: Clues, seller: Clues, unseen: tuple[str, ...]
) -> tasks.Examination:
    """The examination, with stage III of what was found. `unseen`: ids of the pieces that could not be looked at."""
    if unseen:
        text = f"{', '.join(unseen)} could not be looked at by {eye.name}, who goes on with what there is."
        court.note(f"unseen/{eye.id}/{'/'.join(unseen)}", text)
    # Stage III (Eq. 4). The lite variant leaves the media out: their clues are in the text already.
    limit = 0 if court.setup.variant == "iv-cot-lite" else court.setup.key_media
    shown = (*key_media(court.case, buyer, limit), *key_media(court.case, seller, limit))
    task = tasks.AnalyseDispute(
        case=court.case,
        focus=focus,
        buyer=buyer,
        seller=seller,
        unseen=unseen,
        unexamined=unexamined(court, buyer, seller),
        shown=shown,
        persona=coloured(court, eye),
    )
    analysis = await court.ask(eye, task)
    return tasks.Examination(focus=focus, buyer=buyer, seller=seller, unseen=unseen, analysis=analysis)


def unexamined(court: Hearing, buyer: Clues, seller: Clues) -> tuple[Evidence, ...]:
    """The pieces that nobody looked at, in the wording that tells them; late ones are shown to all as they are."""
    known = {clue.evidence_id for clue in (*buyer, *seller)}
    return tuple(
        piece for piece in court.case.evidence if says_more(court) and not piece.late and piece.id not in known
    )


def says_more(court: Hearing) -> bool:
    """Whether members are told more than the paper tells them."""
    return court.setup.wording == "plain" and not court.setup.single


async def ground_side(court: Hearing, eye: Member, focus: tasks.Focus, side: Side) -> tuple[Clues, tuple[str, ...]]:
    """Select and perceive in turn until the side's claim is sufficiently verified, T_max times at most (Eq. 2, 3). Where one piece
    alone is left there is nothing to select, and nobody is asked. Gives also the ids of the pieces that could not be looked at."""
    setup, persona = court.setup, coloured(court, eye)
    left = [piece for piece in court.case.by_side(side) if not piece.late]  # these are shown to all as they are
    clues: list[tasks.Clue] = []
    unseen: list[str] = []
    for number in range(1, setup.pieces + 1):
        if not left:
            break
        if len(left) > 1:
            task = tasks.SelectEvidence(
                language=court.case.language,
                focus=focus,
                side=side,
                looked_at=tuple(clues),
                candidates=tuple(left),
                persona=persona,
                reasons_first=setup.reasons_first,
            )
            selection = await court.ask(eye, task, f"{side}-{number}")
            chosen = next(piece for piece in left if piece.id == selection.selected_evidence_id)
        else:
            chosen = left[0]
        left.remove(chosen)
        more = bool(left) and number < setup.pieces
        clue = await look_at(court, eye, focus, chosen, tuple(clues), f"{side}-{number}", more=more)
        if clue is None:
            unseen.append(chosen.id)
            continue
        clues.append(clue)
        if clue.perception.is_sufficient:
            break
    return tuple(clues), tuple(unseen)


async def look_at(
    court: Hearing,
    eye: Member,
    focus: tasks.Focus,
    piece: Evidence,
    before: Clues,
    step: str,
    *,
    more: bool = False,
) -> tasks.Clue | None:
    """What is found in one piece of evidence; None where it can't be looked at, as when a model refuses its pictures.
    `more`: whether another piece of its side may be looked at after it."""
    look = tasks.PerceiveEvidence(
        language=court.case.language,
        focus=focus,
        side=piece.side,
        evidence=piece,
        before=before,
        persona=coloured(court, eye),
        reasons_first=court.setup.reasons_first,
        in_favour=court.setup.clues == "in-favour",
        more=more,
    )
    perception = await court.try_ask(eye, look, step)
    if perception is None:
        return None
    media = tuple(medium.id for medium in piece.media)
    clue = tasks.Clue(evidence_id=piece.id, media=media, perception=perception)
    return clue.model_copy(update={"round": piece.round, "at": piece.at}) if says_more(court) else clue


async def examine_again(court: Hearing, views: Views) -> Views:
    """The examinations that lack something, made anew as far as that goes: a whole one that failed, else the pieces that
    could not be looked at. Those alone that changed."""
    shared = court.panel("examiner")
    lacking = [
        juror
        for juror in court.panel("juror")
        if juror.id in views and ((view := views[juror.id]) is None or view.unseen)
    ]
    eyes = {juror.id: "" if shared else same_eyes(court, juror) for juror in lacking}
    first = {eyes[juror.id]: (shared[0] if shared else juror, views[juror.id]) for juror in reversed(lacking)}
    made = await court.all(complete(court, eye, view) for eye, view in first.values())
    found = dict(zip(first, made, strict=True))
    return {juror.id: view for juror in lacking if (view := found[eyes[juror.id]]) is not None}


async def complete(court: Hearing, eye: Member, view: tasks.Examination | None) -> tasks.Examination | None:
    """An examination with the pieces that could not be looked at before; None where none of them can be now."""
    if view is None:
        return await examine(court, eye)
    clues = {"buyer": view.buyer, "seller": view.seller}
    pieces = [piece for piece in court.case.evidence if piece.id in view.unseen]
    looks = (look_at(court, eye, view.focus, piece, clues[piece.side], f"again-{piece.id}") for piece in pieces)
    found = [clue for clue in await court.all(looks) if clue is not None]
    if not found:
        return None
    seen = {clue.evidence_id for clue in found}
    for piece in pieces:
        clues[piece.side] += tuple(clue for clue in found if clue.evidence_id == piece.id)
    unseen = tuple(piece for piece in view.unseen if piece not in seen)
    return await analyse(court, eye, view.focus, clues["buyer"], clues["seller"], unseen)


async def judge(
    court: Hearing,
    juror: Member,
    number: int,
    views: Mapping[str, tasks.Examination | None],
    memories: Mapping[str, tuple[str, ...]],
    others: tuple[tasks.Heard, ...],
    summary: tasks.Summary | None,
    own: tuple[Earlier, ...] = (),
    new: tuple[str, ...] = (),
    counts: Mapping[str, int] | None = None,
) -> tasks.Opinion | None:
    """Stage IV for one juror (Eq. 6); its vote is on record as soon as it is cast."""
    setup = court.setup
    view, plain = views.get(juror.id), says_more(court)
    rules = tasks.ruled(setup.rules if setup.ruled else (), read=plain)
    task: tasks.JudgeAtOnce | tasks.Judge = tasks.JudgeAtOnce(case=court.case, rules=rules)
    if view is not None:
        task = tasks.Judge(
            case=court.case,
            rules=rules,
            examination=view,
            unexamined=unexamined(court, view.buyer, view.seller),
            seat=seat_of(juror),
            persona=juror.persona,
            memory=memories.get(juror.id, ()),
            heard=others,
            summary=summary,
            new=new,
            round=number,
            own=recalled(own, setup.recall, juror.spec.room),
            counts=seen_count(setup.count_seen, counts or {}, [one.verdict for one in others], hears_all=False),
            others=len(court.panel("juror")) - 1 if plain and number > 1 else 0,
            rounds=setup.rounds if plain and setup.rounds > 1 else 0,
            reasons_first=setup.reasons_first,
        )
    elif setup.examines_evidence:
        court.vote(juror, None, ("It has no examination of the evidence to judge by.",))
        return None
    opinion = await court.try_ask(juror, task)
    court.vote(juror, opinion.verdict if opinion else None, opinion.reasoning if opinion else ())
    await ask_alone(court, setup.private_ballots and not setup.single, juror, task, tasks.JudgeInPrivate)
    return opinion


async def begin(court: Hearing, juror: Member, side: str) -> tasks.Opinion | None:
    """The opinion of a juror who begins on a side: its best reasons for it."""
    given = await court.try_ask(juror, BestReasons(case=court.case, side=side, persona=juror.persona))
    opinion = tasks.Opinion.model_validate({"reasoning": given.reasons, "verdict": side}) if given else None
    court.vote(juror, opinion.verdict if opinion else None, opinion.reasoning if opinion else ())
    return opinion


def heard(court: Hearing, juror: Member, opinions: Mapping[str, tasks.Opinion]) -> tuple[tasks.Heard, ...]:
    """R_k,t: what the jurors whom this one follows said in the round before (Eq. 7)."""
    names = {member.id: member.name for member in court.panel("juror")}
    seat = seat_of(juror) - 1
    followed = [juror_id(j + 1) for j in sorted(j for k, j in court.setup.graph.edges or () if k == seat)]
    return tuple(
        tasks.Heard(name=names[other], verdict=opinions[other].verdict, reasoning=opinions[other].reasoning)
        for other in followed
        if other in opinions and other in names  # who has left since is not heard any more
    )


async def recall(court: Hearing) -> dict[str, tuple[str, ...]]:
    """M_k: norms of the closest precedents that have any (Eq. 8), of these the closest to each persona (Eq. 9)."""
    setup = court.setup
    if not setup.recalls:
        return {}
    await court.stage("Precedents", "precedents")
    norms = tuple(
        dict.fromkeys(norm for hit in await closest(court, Filter(with_norms=True)) for norm in hit.record["norms"])
    )

    async def memory(juror: Member) -> tuple[str, ...]:
        if not norms or juror.persona is None:
            return norms[: setup.norms]
        wanted = Rank(text=juror.persona.text(), candidates=norms, k=setup.norms)
        return tuple(str(hit.record["text"]) for hit in await court.retrieve(f"{juror.id}/norms", wanted))

    jury = court.panel("juror")
    memories = await court.all(memory(juror) for juror in jury)
    return {juror.id: norms or () for juror, norms in zip(jury, memories, strict=True)}


async def summarise(
    court: Hearing,
    number: int,
    opinions: Mapping[str, tasks.Opinion],
    before: tasks.Summary | None,
    views: Views,
    memories: Mapping[str, tuple[str, ...]],
    new: tuple[str, ...] = (),
    *,
    ended: bool = False,
) -> tasks.Summary | None:
    """S_t+1 from all jurors' reasons (Eq. 7); the earlier one stays where the clerk has no answer."""
    names = {juror.id: juror.name for juror in court.panel("juror")}
    said = tuple(
        tasks.Heard(name=names[i], verdict=opinion.verdict, reasoning=opinion.reasoning)
        for i, opinion in opinions.items()
    )
    plain = says_more(court)
    shared = next(iter(views.values()), None) if plain and court.setup.examination == "shared" else None
    clues = (*shared.buyer, *shared.seller) if shared else ()
    task = tasks.Summarise(
        language=court.case.language,
        round=number,
        opinions=said,
        before=before,
        new=new,
        rules=tasks.ruled(court.setup.rules if court.setup.ruled and plain else (), read=plain),
        evidence=tuple(piece for piece in court.case.evidence if plain and not piece.late),
        focus=shared.focus if shared else None,
        found={clue.evidence_id: clue.perception.evidence_summary for clue in clues},
        norms=tuple(dict.fromkeys(norm for norms in memories.values() if plain for norm in norms)),
        ended=ended and plain,
        count_seen=_told_of(court.setup, ended=ended),
    )
    summary = await court.try_ask(court.member("clerk"), task)
    return summary or before


def _told_of(setup: CyberJurorsSetup, *, ended: bool) -> CountSeen:
    """Who is shown the count, as the clerk is told it; a clerk that may not tell the count writes as if each saw a part."""
    if ended:
        return "nobody"
    return "heard" if setup.count_seen == "nobody" and not setup.clerk_counts else setup.count_seen


def majority(
    tally: Tallied, summary: tasks.Summary | None, opinions: Mapping[str, tasks.Opinion], tie: Side
) -> Verdict:
    """The side with more votes in the last round (Eq. 10). A tie goes to the buyer there; `tie` is the setting."""
    buyer, seller = tally.counts["buyer"], tally.counts["seller"]
    outcome = tie if buyer == seller else "seller" if seller > buyer else "buyer"
    reasons = [reason for opinion in opinions.values() if opinion.verdict == outcome for reason in opinion.reasoning]
    return Verdict(
        outcome=outcome,
        counts=tally.counts,
        abstained=tally.abstained,
        summary="\n\n".join(
            filter(None, (summary.prevailing_orientation, summary.key_arguments, summary.debate_intensity))
        )
        if summary
        else " ".join(reasons[:3]),
        note=f"The vote is a tie; by this run's setting a tie goes to the {tie}." if buyer == seller else "",
        details=summary.model_dump(mode="json") if summary else {},
    )


async def closest(court: Hearing, only: Filter = ALL) -> list[Hit]:
    """The precedents most similar to the dispute, best first. A precedent that was made from this very dispute, and a copy of it
    under another id, is left out: it would give the verdict on record away. `only`: which precedents may be found."""
    case = court.case
    query = Search(
        collection="precedents",
        text=dispute_text(case),
        k=court.setup.precedents,
        exclude=(case.id, precedent_id(case)),
        only=only,
        base=court.setup.base,
        itself=False,
    )
    return list(await court.retrieve("precedents", query))


async def by_precedents(court: Hearing) -> Verdict:
    """The side that got more of the votes on record of the closest precedents (nearest neighbours, Cover and Hart, 1967)."""
    await court.stage("Precedents", "precedents")
    hits = await closest(court) if court.setup.precedents else []
    await court.stage("Verdict", "verdict")
    court.needs(len(hits), max(1, court.setup.precedents), "precedents could be found")
    counts = {side: sum(int(hit.record[f"{side}_votes"]) for hit in hits) for side in SIDES}
    tied = counts["buyer"] == counts["seller"]
    side = court.setup.tie if tied else max(SIDES, key=counts.__getitem__)
    summary = (
        f"The votes on record of {len(hits)} close precedents: buyer {counts['buyer']}, seller {counts['seller']}."
    )
    (seat,) = court.panel("juror")
    court.vote(seat, side, (summary, *(str(hit.record["title"]) for hit in hits[:3])))
    court.tally(SIDES, court.setup.consensus)
    note = f"These votes are a tie; by this run's setting a tie goes to the {side}." if tied else ""
    return Verdict(outcome=side, counts=counts, summary=summary, note=note)


def at_most(case: Dispute, setup: CyberJurorsSetup) -> int:
    """Upper bound on the calls: examinations, then a verdict a juror and a summary in each round."""
    jurors = len(setup.taken)
    if setup.variant == "nearest-precedents":
        return 0
    if not setup.examines_evidence:
        return 1
    looks = [min(setup.pieces, len(case.by_side(side))) for side in SIDES]
    selects = [min(setup.pieces, max(0, len(case.by_side(side)) - 1)) for side in SIDES]
    examinations = 1 if setup.examination == "shared" else jurors
    rounds = max(setup.rounds, 2 if setup.begins is not None else 1)
    verdicts = 1 if setup.single else rounds * (jurors * (2 if setup.private_ballots else 1) + 1)
    return examinations * (2 + sum(looks) + sum(selects)) + verdicts


CYBERJURORS = Procedure(
    **declared(__file__, draws=(precedents, summaries, examination), choices=CHOICES),
    setup=CyberJurorsSetup,
    tasks=(*METHODS, BestReasons),
    offline={**METHODS, BestReasons: best_reasons},
    members=members,
    deliberate=deliberate,
    at_most=at_most,
    about_what=piece_of,
    without_one=without_one,
    peers=tasks.PEERS,
    counting=lambda setup: Counting(above=setup.consensus, tie=setup.tie),
)
