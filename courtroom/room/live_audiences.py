"""What an audience may see of its run now, worked out once for all phones."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network

from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.questions.audience import BEFORE, Audience, AudienceStore, Liked, VoteRefused
from courtroom.room.player import Scenes
from courtroom.room.scene import Moment

SHARED_BY_PHONES_S = 1.0
NEW_ARGUMENTS_AFTER_S = 8.0
"""Each change is drawn on every phone."""
MINUTE_S = 60.0
MAX_SENT_A_MINUTE_AND_PHONE = 6
PHONE_AWAY_AFTER_S = 20.0


@dataclass(frozen=True)
class Poll:
    """One question to the audience, with what was voted."""

    path: str
    name: str
    voted: Mapping[str, int]
    members: Mapping[str, int]
    """The members' votes by choice; empty before their first ballot."""
    abstained: int = 0


@dataclass(frozen=True)
class AudienceSnapshot:
    """An audience and its run as they stand."""

    audience: Audience
    record: Record
    procedure: Procedure
    """As it is about the record's case."""
    polls: tuple[Poll, ...]
    """Those that phones may see, the last one being open where the audience is."""
    to_come: int
    """Ballots of the run that phones may not see yet."""
    said: tuple[Moment, ...]
    """The run's moments up to the last ballot that phones may see."""
    arguments: tuple[Liked, ...]

    @property
    def open(self) -> str | None:
        """The poll in which phones vote now; None where the audience is closed."""
        return None if self.audience.closed is not None else self.polls[-1].path

    @property
    def version(self) -> tuple[object, ...]:
        """The same for as long as no phone has anything new to draw. The votes of an open poll are not on phones: who
        sees how others vote votes with them."""
        return (self.open, len(self.polls), self.arguments, self.record.run.status == "done" and not self.to_come)


@dataclass
class _Kept:
    at: float = -SHARED_BY_PHONES_S
    snapshot: AudienceSnapshot | None = None
    arguments_at: float = -NEW_ARGUMENTS_AFTER_S
    phones: dict[str, float] = field(default_factory=dict)


@dataclass
class _Sender:
    phones: set[str] = field(default_factory=set)
    sent: list[float] = field(default_factory=list)


@dataclass(eq=False)
class LiveAudiences:
    """Reads audiences for all phones of this process, from any thread; at most `phones` of an address take part."""

    audiences: AudienceStore
    procedures: Mapping[str, Procedure]
    record: Callable[[str], Record]
    phones: int = 100
    _scenes: Scenes = field(default_factory=Scenes)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _kept: dict[str, _Kept] = field(default_factory=dict)
    _senders: dict[tuple[str, str], _Sender] = field(default_factory=dict)

    def snapshot(self, token: str, *, now: bool = False) -> AudienceSnapshot:
        """Return the audience to which a link leads, at most a second old; with `now` it is read anew. Raises
        `NoSuchAudience`: it leads to none; another `CourtroomError`: its run can't be read any more."""
        with self._lock:
            kept = self._kept.get(token)
            if kept and kept.snapshot and not now and time.monotonic() - kept.at < SHARED_BY_PHONES_S:
                return kept.snapshot
            return self._read(audience=self.audiences.at(token), kept=self._kept.setdefault(token, _Kept()))

    def here(self, token: str, phone: str) -> None:
        if (kept := self._kept.get(token)) is not None:
            kept.phones[phone] = time.monotonic()

    def people(self, token: str) -> int:
        """How many phones look at this audience through this process."""
        kept = self._kept.get(token)
        return sum(time.monotonic() - seen < PHONE_AWAY_AFTER_S for seen in list(kept.phones.values())) if kept else 0

    def vote(self, token: str, phone: str, poll: str, choice: str, address: str = "") -> None:
        self._admit(token, phone, address)
        snapshot = self._opened(token, poll)
        if choice not in {one.name for one in snapshot.procedure.choices}:
            raise VoteRefused("There is no such choice.")
        self.audiences.vote(snapshot.audience.run, poll, phone, choice)

    def argue(self, token: str, phone: str, poll: str, text: str, address: str = "") -> None:
        """Keep a phone's argument; one is refused where the poll is not open or the address sends too much."""
        self._admit(token, phone, address)
        self.audiences.argue(self._opened(token, poll).audience.run, poll, phone, text)

    def like(self, token: str, number: int, phone: str, on: bool, address: str = "") -> None:
        """Keep a phone's vote for the argument of another, or take it back."""
        self._admit(token, phone, address)
        self.audiences.like(self.audiences.at(token).run, number, phone, on)

    def empty(self, token: str) -> None:
        """Delete all votes and arguments, and forget which addresses they came from."""
        self.audiences.empty(self.audiences.at(token).run)
        with self._lock:
            self._senders = {key: sender for key, sender in self._senders.items() if key[0] != token}
            self._kept.pop(token, None)

    def _admit(self, token: str, phone: str, address: str) -> None:
        """Refuse what would let one address fill an audience. Addresses are kept in memory alone."""
        with self._lock:
            sender = self._senders.setdefault((token, network(address)), _Sender())
            now = time.monotonic()
            sender.sent = [at for at in sender.sent if now - at < MINUTE_S]
            if phone not in sender.phones and len(sender.phones) >= self.phones:
                raise VoteRefused(f"{self.phones} phones of your network take part already. Use another network.")
            if len(sender.sent) >= self.phones * MAX_SENT_A_MINUTE_AND_PHONE:
                raise VoteRefused("Your network has sent too much in the last minute. Wait a minute, and try again.")
            sender.phones.add(phone)
            sender.sent.append(now)

    def _opened(self, token: str, poll: str) -> AudienceSnapshot:
        snapshot = self.snapshot(token, now=True)
        if snapshot.open != poll:
            raise VoteRefused("This round is closed. Vote in the one that is open now.")
        return snapshot

    def _read(self, kept: _Kept, audience: Audience) -> AudienceSnapshot:
        record = self.record(audience.run)
        procedure = self.procedures[record.run.procedure].about(record.case)
        told = self._scenes.of(record, procedure).scene.moments
        ballots = list(record.tallies)
        shown = ballots if audience.shown is None else ballots[: audience.shown]
        counts, clock = self.audiences.counts(audience.run), time.monotonic()
        arguments = kept.snapshot.arguments if kept.snapshot else ()
        if clock - kept.arguments_at >= NEW_ARGUMENTS_AFTER_S:
            kept.arguments_at, arguments = clock, self.audiences.arguments(audience.run)
        votes = ((path, counts.get(path, {}), record.tallies[path]) for path in shown)
        cast = (Poll(path, record.ballot_name(path), own, of.counts, of.abstained) for path, own, of in votes)
        polls = (Poll(BEFORE, "Before the first vote", counts.get(BEFORE, {}), {}), *cast)
        ends = [n for n, one in enumerate(told, start=1) if one.kind == "tally" and [one.ballot] == shown[-1:]]
        said = told[: max(ends, default=0)]
        kept.snapshot = AudienceSnapshot(audience, record, procedure, polls, len(ballots) - len(shown), said, arguments)
        kept.at = clock
        return kept.snapshot


def network(address: str) -> str:
    """What counts as one address: of IPv6 the first half, as a visitor may have all of the rest."""
    try:
        found = ip_address(address.strip())
    except ValueError:
        return address.strip()
    return str(ip_network((found, 64), strict=False)) if found.version == 6 else str(found)
