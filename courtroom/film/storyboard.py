"""What a film of a run shows: some of its moments, each with a caption, and how long it stands."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from courtroom.room.scene import RoomScene, SpokenPart
from courtroom.strict import Strict
from courtroom.text.words import sentences

CHARACTERS_A_SECOND = 15
"""How fast captions are read. A Chinese character counts as two."""
SETTLES = 0.8
"""Seconds for the eye to find the caption after a change of picture."""
LONGEST_CAPTION = 110
LONGEST_CHANGE = 170
LONGEST_OUTCOME = 220
ENOUGH_S = 2.5
"""Seconds of reading after which a caption takes no further sentence: the rest of the film's time is for others."""
MIN_FILM_S, MAX_FILM_S = 20.0, 60.0
WIDE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")
"""A character of Chinese text."""


class Shot(Strict):
    """A moment of the run as the film shows it."""

    kind: Literal["title", "said", "change", "count", "act", "verdict"]
    moment: int
    """The room is drawn as it stood after this one; -1 is before the first."""
    member: str = ""
    """Id of who speaks."""
    head: str = ""
    caption: str = ""
    foot: str = ""
    """Of a verdict: how the votes stood."""
    turnout: str = ""
    """Of a verdict: who has no vote and why, and what stand-ins answered."""
    weight: float = 0
    """How much it matters: what matters most is shown first where time is short."""
    kept: bool = True
    longer: float = 0
    """Seconds that it stands beyond what its text needs, where the film would be too short."""

    @property
    def seconds(self) -> float:
        """How long it stands, so that what it says can be read; the head only names who speaks."""
        slow = {"title": 1.0, "change": 1.6, "count": 0.6, "verdict": 1.6}.get(self.kind, 0.0)
        return max(2.4, SETTLES + reading_time(f"{self.caption} {self.foot} {self.turnout}") + slow) + self.longer


def reading_time(text: str) -> float:
    return (len(text) + len(WIDE.findall(text))) / CHARACTERS_A_SECOND


def storyboard(scene: RoomScene, seconds: float = 45.0) -> tuple[Shot, ...]:
    """Return all moments of a scene, as it is read, that a film can show; those that are kept take about so long."""
    shots = _shots(scene)
    chosen = {number for number, shot in enumerate(shots) if shot.kind in ("title", "verdict")}
    left = min(max(seconds, MIN_FILM_S), MAX_FILM_S) - sum(shots[number].seconds for number in sorted(chosen))
    shown: Counter[str] = Counter()
    waiting = set(range(len(shots))) - chosen

    def worth(number: int) -> tuple[float, int]:
        # Who has spoken already gives way to who has not, and the fifth change of mind to a first word.
        shot = shots[number]
        return shot.weight - 0.6 * shown[shot.member] - 0.8 * shown[shot.kind], -number

    while waiting:
        best = max(waiting, key=worth)
        waiting.remove(best)
        told = {shots[n].caption for n in chosen if shots[n].kind != "count"}
        if shots[best].seconds <= left and shots[best].caption not in told:
            left -= shots[best].seconds
            chosen.add(best)
            shown.update({shots[best].kind: shots[best].kind != "count", shots[best].member: bool(shots[best].member)})
    longer = max(0.0, MIN_FILM_S - sum(shots[number].seconds for number in chosen)) / len(chosen)
    return tuple(shot.model_copy(update={"kept": n in chosen, "longer": longer}) for n, shot in enumerate(shots))


def length(shots: Sequence[Shot]) -> float:
    return sum(shot.seconds for shot in shots if shot.kept)


def _shots(scene: RoomScene) -> list[Shot]:
    turning = _turning_point(scene)
    calls = {moment.path: moment for moment in scene.moments if moment.kind == "call"}
    voted = {moment.call for moment in scene.moments if moment.kind == "vote"}
    names = {seat.id: seat.name for seat in scene.seats}
    sides = {side.name: side.title for side in scene.sides}
    heard: set[str] = set()
    stage = ""
    shots = [Shot(kind="title", moment=-1, head=scene.procedure, caption=shortened(scene.title))]
    for number, moment in enumerate(scene.moments):
        who = moment.member
        if moment.kind == "stage":
            stage = moment.title
        elif moment.kind == "call" and not moment.failed and moment.path not in voted:
            if caption := key_sentence(moment.parts):
                weight = 7.0 if moment.person else 3.5 if moment.side else 2.5 if who not in heard else 1.0
                weight = min(weight, 0.5) if scene.carries and not moment.side and not moment.person else weight
                head = f"{names.get(who, who)} · {moment.title or stage}"
                shots.append(Shot(kind="said", moment=number, member=who, head=head, caption=caption, weight=weight))
            heard.add(who)
        elif moment.kind == "vote" and moment.choice and (call := calls.get(moment.call)):
            moved = moment.before not in (None, moment.choice)
            others = [name for member, name in names.items() if member != who]
            if not (caption := key_sentence(call.parts, others if moved else ())):
                continue
            name, side = names.get(who, who), sides.get(moment.choice, moment.choice)
            before = sides.get(moment.before or "", "")
            kind: Literal["change", "said"] = "change" if moved else "said"
            head, weight = f"{name} · {side}", 7.0 if call.person else 4.0 if moment.choice not in heard else 1.5
            if moved:
                head, weight = f"{name} · {before} → {side}", 9.0 if number == turning else 6.0
            heard |= {moment.choice, who}
            shots.append(Shot(kind=kind, moment=number, member=who, head=head, caption=caption, weight=weight))
        elif moment.kind == "tally" and moment.counts:
            counts = _told(scene, moment.counts)
            weight = 8.0 if scene.carries else 1.2
            head = scene.ballots.get(moment.ballot, stage)
            shots.append(Shot(kind="count", moment=number, head=head, caption=counts, weight=weight))
        elif moment.kind == "act":
            shots.append(Shot(kind="act", moment=number, caption=shortened(moment.title), weight=6.5))
    if scene.verdict:
        ended = scene.verdict
        head, caption = scene.ending, ended.outcome
        if not ended.counts and ended.summary and len(ended.outcome) < LONGEST_CAPTION:
            head, caption = f"{scene.ending} · {ended.outcome}", ended.summary
        real = f"{scene.real_title}: {_told(scene, scene.real)}" if scene.real else ""
        foot = "  ·  ".join(filter(None, (_told(scene, ended.counts), real)))
        last = len(scene.moments) - 1
        caption = shortened(caption, LONGEST_OUTCOME)
        turnout = " ".join(ended.turnout)
        shots.append(Shot(kind="verdict", moment=last, head=head, caption=caption, foot=foot, turnout=turnout))
    return shots


def _told(scene: RoomScene, counts: Mapping[str, int]) -> str:
    sides = {side.name: side.title for side in scene.sides}
    return "   ".join(f"{sides.get(name, name)} {number}" for name, number in counts.items())


def _turning_point(scene: RoomScene) -> int | None:
    """The change of mind after which the side that wins leads to the end; None where it led from the first round on."""
    if not scene.carries or not scene.verdict or not scene.verdict.choice:
        return None
    final = scene.verdict.counts
    winner = max(final, key=lambda name: final[name], default="")
    votes: dict[str, str | None] = {}
    turning, led = None, False
    for number, moment in enumerate(scene.moments):
        if moment.kind != "vote":
            continue
        votes[moment.member] = moment.choice
        given = Counter(votes.values())
        leads = given[winner] > max((given[side.name] for side in scene.sides if side.name != winner), default=0)
        if leads and not led:
            turning = number if moment.before not in (None, moment.choice) else None
        led = leads
    return turning


def key_sentence(parts: Sequence[SpokenPart], names: Sequence[str] = ()) -> str:
    """Return what a caption shows: the sentence that names somebody of `names`, else the first that says something, and
    where that is short those after it; a mark at its end says that more was said."""
    said = [sentence for part in parts for sentence in sentences(part.text)]
    telling = [sentence for sentence in said if reading_time(sentence) > 1]
    first = {word for name in names for word in (name, name.split()[0]) if len(word) > 1}
    taken_up = next((text for text in telling if any(word in text for word in first)), None)
    start = taken_up or next(iter(telling or said), "")
    # What changed a mind stands at the end of its sentence.
    most = LONGEST_CHANGE if taken_up else LONGEST_CAPTION
    caption = shortened(start, most)
    for sentence in said[said.index(start) + 1 :] if start else ():
        longer = f"{caption}{'' if WIDE.match(caption[-1]) else ' '}{sentence}"
        if reading_time(caption) > ENOUGH_S or shortened(longer, most) != longer:
            return caption if caption.endswith("…") else f"{caption} …"
        caption = longer
    return caption


def shortened(text: str, most: int = LONGEST_CAPTION) -> str:
    """A text in one line, cut between words where it is longer than a caption."""
    line = " ".join(text.split())
    most -= len(WIDE.findall(line[:most])) // 2
    if len(line) <= most:
        return line
    cut = line[: most - 1]
    return (cut.rpartition(" ")[0] if " " in cut[most // 2 :] else cut).rstrip(" ,;:，；：") + "…"
