"""The room as a picture: who sits where, how the votes stand, who speaks, and the caption below."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any, Literal

from PIL import Image, ImageColor, ImageDraw, ImageFont

from courtroom.errors import CourtroomError
from courtroom.figures.layout import INK, LINE, NEUTRAL
from courtroom.film.storyboard import WIDE, Shot, shortened
from courtroom.language import _, translated
from courtroom.room.scene import Moment, RoomScene, RoomSeat, Side

Theme = Literal["light", "dark"]
Shape = Literal["wide", "tall"]
SIZES: dict[Shape, tuple[int, int]] = {"wide": (1280, 720), "tall": (720, 1280)}
"""Pixels across and down: 16:9 and 9:16."""
FINE = 2
"""Pictures are drawn this many times as large and then made smaller, so that edges are smooth."""
PAPER = {"light": "#FFFFFF", "dark": "#12161F"}
CARD = {"light": "#F4F6FA", "dark": "#1C2230"}
ACCENT = {"light": "#3B5BA9", "dark": "#8FB0F5"}
CHINESE_FONTS = (
    "NotoSansCJK-Regular.ttc", "NotoSansSC-Regular.otf", "SourceHanSansSC-Regular.otf", "PingFang.ttc", "msyh.ttc",
    "wqy-microhei.ttc", "wqy-zenhei.ttc", "simhei.ttf",
)  # fmt: skip
"""Looked for, in this order, among the fonts of the computer."""
MAX_NAMED_SEATS = 24
LINE_HEIGHT = 1.25
SMALLEST = 14
Box = tuple[float, float, float, float]
"""Left, top, right, bottom, in pixels of the finished picture."""


@dataclass
class Standing:
    """How a run stands after a moment."""

    stage: str = ""
    votes: dict[str, Moment] = field(default_factory=dict)
    ballots: dict[str, dict[str, str | None]] = field(default_factory=dict)
    """For each ballot, what each member voted."""
    offers: dict[str, str] = field(default_factory=dict)
    """The choice that a member puts forward."""
    said: dict[str, str] = field(default_factory=dict)
    """The last words of each member."""


def standing(scene: RoomScene, at: int) -> Standing:
    """Return the run as it stood after a moment; -1 is before the first. The room in the browser does likewise."""
    now, counted = Standing(), False
    for moment in scene.moments[: at + 1]:
        match moment.kind:
            case "stage":
                now.stage = moment.title
                if counted:
                    now.offers.clear()
                counted = False
                if not scene.carries:
                    now.votes.clear()
            case "call":
                facts = " · ".join(f"{fact.label}: {fact.value}" for fact in moment.facts)
                now.said[moment.member] = next((part.text for part in moment.parts), facts)
                if moment.side:
                    now.offers[moment.member] = moment.side
            case "vote":
                if moment.ballot not in now.ballots and not scene.carries:
                    now.votes.clear()
                now.ballots.setdefault(moment.ballot, {})[moment.member] = moment.choice
                now.votes[moment.member] = moment
            case "tally":
                counted = True
    return now


class Painter:
    """Draws a run as its reader reads it. Raises `CourtroomError`: no font here has the Chinese characters in it."""

    def __init__(self, scene: RoomScene, shape: Shape, theme: Theme) -> None:
        self.scene, self.shape, self.theme = scene, shape, theme
        self.size = SIZES[shape]
        self._sides = {side.name: side for side in scene.sides}
        self._seats = [seat for seat in scene.seats if seat.place]
        self._many = len(self._seats) > MAX_NAMED_SEATS
        self._ink, self._line, self._soft = INK[theme], LINE[theme], NEUTRAL[theme]

    def picture(self, shot: Shot, *, before: bool = False) -> Image.Image:
        """The picture of a shot. `before`: of a change of mind, as it was before the vote."""
        across, down = self.size
        image = Image.new("RGB", (across * FINE, down * FINE), PAPER[self.theme])
        self._draw = ImageDraw.Draw(image)
        if shot.kind == "title":
            self._title(shot)
        else:
            now = standing(self.scene, shot.moment - before)
            wide = self.shape == "wide"
            self._header(now, (36, 22, across - 36, 92) if wide else (28, 40, across - 28, 170))
            self._room(now, shot, (30, 104, across - 30, 548) if wide else (14, 200, across - 14, 860))
            self._caption(shot, (60, 560, across - 60, 676) if wide else (36, 890, across - 36, 1210))
        self._text(self.scene.notice, (across / 2, down - 21), 15, self._soft, anchor="mm", width=across - 24)
        return image.reduce(FINE)

    def _card(self, box: Box, radius: float, **looks: Any) -> None:
        """A rectangle with round corners; by default a card with a thin edge."""
        edge = {"fill": CARD[self.theme], "outline": self._line, "width": FINE}
        self._draw.rounded_rectangle(_fine(box), radius * FINE, **(looks or edge))

    def _polygon(self, corners: Iterable[tuple[float, float]], fill: str) -> None:
        self._draw.polygon([(x * FINE, y * FINE) for x, y in corners], fill=fill)

    def _title(self, shot: Shot) -> None:
        across, down = self.size
        self._text(shot.head, (across / 2, down * 0.3), 30, self._tone(None), anchor="mm", width=across - 80)
        self._lines(shot.caption, (60, down * 0.36, across - 60, down * 0.66), 58, weight=700)
        told = _("{number} members", number=len(self._seats))
        models = ", ".join(dict.fromkeys(translated(seat.model) for seat in self._seats if seat.model))
        self._text(f"{told} · {models}", (across / 2, down * 0.74), 24, self._soft, anchor="mm", width=across - 80)

    def _header(self, now: Standing, box: Box) -> None:
        left, top, right, bottom = box
        given = Counter(vote.choice for vote in now.votes.values())
        counts = {side.name: given[side.name] for side in self.scene.sides if now.votes}
        if len(counts) > 2:
            counts = dict(sorted(counts.items(), key=lambda one: -one[1])[:4])
        middle = left + (right - left) * 0.56 if self.shape == "wide" and counts else right
        self._text(self.scene.title, (left, top), 28, self._ink, weight=700, width=middle - left - 16)
        self._text(f"{self.scene.procedure} · {now.stage}", (left, top + 38), 20, self._soft, width=middle - left - 16)
        if counts:
            beside, below = (middle, top, right, top + 66), (left, top + 74, right, bottom)
            self._tally(now, counts, beside if self.shape == "wide" else below)

    def _tally(self, now: Standing, counts: Mapping[str, int], box: Box) -> None:
        """A number for each side and a bar, filled from both ends where there are two."""
        left, top, right, _bottom = box
        seats = max(1, len([seat for seat in self._seats if seat.votes]), len(now.votes))
        without = sum(vote.choice is None for vote in now.votes.values())
        told = [(self._sides.get(name), number) for name, number in counts.items()]
        told += [(None, without)] if without else []
        room = (right - left) / max(1, len(told))
        for place, (side, number) in enumerate(told):
            at = left + place * room
            self._mark(side, (at + 12, top + 17), 12)
            shown = self._text(str(number), (at + 32, top - 2), 32, self._ink, weight=700)
            title = side.title if side else _("without a vote")
            self._text(title, (at + 40 + shown, top + 8), 20, self._ink, width=room - 56 - shown)
        line: Box = (left, top + 46, right, top + 60)
        self._card(line, 7)
        filled = left
        for number, (name, count) in enumerate(counts.items()):
            if not count:
                continue
            long = (right - left) * count / seats
            part = (right - long, right) if number and len(self.scene.sides) == 2 else (filled, filled + long)
            filled += long
            self._card((part[0], line[1], part[1], line[3]), 5, fill=self._tone(self._sides[name]))
        above = self.scene.above
        if above is not None and above < 1:
            for share in {above, 1 - above} if len(self.scene.sides) == 2 else {above}:
                x = left + (right - left) * share
                self._draw.line(_fine((x, line[1] - 5, x, line[3] + 5)), self._ink, 2 * FINE)

    def _room(self, now: Standing, shot: Shot, box: Box) -> None:
        left, top, right, bottom = box
        self._card(box, 18)
        radius = 13 if self._many else 25 if self.shape == "wide" else 24
        if self.scene.seating == "rows":  # they fill the room: below each seat there is room for what it said
            rows = sorted({seat.place[1] for seat in self._seats if seat.place})
            high = (bottom - top) / max(1, len(rows))
            inner: Box = (left + 30, 0, right - 30, 0)
            first = top + radius + max(18.0, high * 0.2 - 20)
            placed = [(seat.id, _placed(seat, inner)[0], seat.place[1]) for seat in self._seats if seat.place]
            points = {name: (x, first + high * rows.index(row)) for name, x, row in placed}
        else:
            # Places of a ring and of benches leave room at their edges.
            inner = (left + 30, top + radius - 15, right - 30, bottom - (radius if self._many else radius + 9))
            points = {seat.id: _placed(seat, inner) for seat in self._seats}
        if shot.kind == "change":
            self._followed(now, shot.member, points, radius)
        for seat in self._seats:
            self._seat(now, seat, points[seat.id], radius, seat.id == shot.member)
        if self.scene.carries and len(now.ballots) > 1 and self.scene.seating != "rows" and shot.kind != "change":
            x, y = (left + right) / 2, top + (bottom - top) * 0.44
            across, down = 0.2 * (right - left), 0.14 * (bottom - top)
            self._flow(now, (x - across, y - down, x + across, y + down))
        elif now.offers and self.scene.seating != "rows":
            self._offers(now, (left + 40, top + (bottom - top) * 0.36, right - 40, top + (bottom - top) * 0.66))

    def _seat(self, now: Standing, seat: RoomSeat, at: tuple[float, float], radius: float, speaks: bool) -> None:
        x, y = at
        vote = now.votes.get(seat.id)
        choice = vote.choice if vote else now.offers.get(seat.id)
        side = self._sides.get(choice or "")
        if speaks:
            self._draw.ellipse(_fine(_around(at, radius + 8)), outline=ACCENT[self.theme], width=4 * FINE)
        self._mark(side, at, radius, quiet=vote is None and seat.id not in now.said)
        if self._many and not speaks:
            return
        middle = (x, y + (5 if side and side.symbol == "triangle-up" else 0))
        self._text(initials(seat.name), middle, radius * 0.62, self._ink, weight=650, anchor="mm")
        latest = list(now.ballots)[-1:] == [vote.ballot] if vote else False
        if vote and latest and vote.before not in (None, vote.choice):
            a, b = centre = (x + radius + 3, y - radius + 5)
            self._draw.ellipse(_fine(_around(centre, 11)), fill=self._ink)
            self._draw.arc(_fine(_around(centre, 6)), 300, 220, fill=PAPER[self.theme], width=2 * FINE)
            self._polygon([(a + 7, b - 8), (a + 6, b - 1), (a, b - 4)], PAPER[self.theme])
        if self.shape == "tall" and len(self._seats) > 10 and not speaks:
            return
        row = sum(1 for other in self._seats if other.place and seat.place and abs(other.place[1] - seat.place[1]) < 12)
        room = min(150.0, (self.size[0] - 80) / max(1, row)) if self.scene.seating != "ring" else 118.0
        colour = ACCENT[self.theme] if speaks else self._ink
        self._text(seat.name, (x, y + radius + (19 if speaks else 13)), 15, colour, weight=650, anchor="mm", width=room)
        if self.scene.seating == "rows" and seat.id in now.said:
            half = min(140.0, (self.size[0] - 90) / 8)
            said: Box = (x - half, y + radius + 24, x + half, y + radius + 104)
            self._lines(shortened(now.said[seat.id], 90), said, 17, weight=450, colour=self._soft, at_top=True)
        else:
            word = side.title if side else seat.role if seat.role not in seat.name and not seat.votes else ""
            self._text(word, (x, y + radius + (36 if speaks else 31)), 14, self._soft, anchor="mm", width=room)

    def _offers(self, now: Standing, box: Box) -> None:
        """What is put forward for each side, next to each other."""
        left, top, right, bottom = box
        wide = (right - left) / len(now.offers)
        for number, (member, choice) in enumerate(now.offers.items()):
            card: Box = (left + number * wide + 8, top, left + (number + 1) * wide - 8, bottom)
            self._card(card, 10, fill=PAPER[self.theme], outline=self._tone(self._sides.get(choice)), width=3)
            inner: Box = (card[0] + 14, card[1] + 8, card[2] - 14, card[3] - 8)
            self._lines(shortened(now.said.get(member, ""), 150), inner, 18, weight=450)

    def _mark(self, side: Side | None, at: tuple[float, float], radius: float, *, quiet: bool = False) -> None:
        """The shape of a choice; a ring where there is none."""
        tone = self._tone(side)
        fill = _between(tone, PAPER[self.theme], 0.28) if side else PAPER[self.theme]
        width = round((1.6 if quiet else max(2.0, radius * 0.13)) * FINE)
        points = SYMBOLS.get(side.symbol) if side else None
        if points is None:
            edge = self._line if quiet else tone
            self._draw.ellipse(_fine(_around(at, radius)), fill=fill, outline=edge, width=width)
            return
        corners = [((at[0] + a * radius) * FINE, (at[1] + b * radius) * FINE) for a, b in points]
        self._draw.polygon(corners, fill=fill)
        self._draw.line([*corners, *corners[:2]], tone, width, joint="curve")

    def _followed(self, now: Standing, member: str, points: Mapping[str, tuple[float, float]], radius: float) -> None:
        """Arrows from those whose opinion a member was shown, and whom it joined."""
        vote, earlier = now.votes.get(member), list(now.ballots.values())[-2:-1]
        if not vote or not earlier:
            return
        for other in next((seat.follows for seat in self._seats if seat.id == member), ()):
            if other not in points or other == member or earlier[0].get(other) != vote.choice:
                continue
            (x1, y1), (x2, y2) = points[other], points[member]
            long, cut = math.hypot(x2 - x1, y2 - y1), radius + 12
            if long <= 2 * cut:
                continue
            ux, uy = (x2 - x1) / long, (y2 - y1) / long
            a, b, c, d = x1 + ux * cut, y1 + uy * cut, x2 - ux * cut, y2 - uy * cut
            self._draw.line(_fine((a, b, c, d)), ACCENT[self.theme], 3 * FINE)
            tip = [(c, d), (c - ux * 13 - uy * 7, d - uy * 13 + ux * 7), (c - ux * 13 + uy * 7, d - uy * 13 - ux * 7)]
            self._polygon(tip, ACCENT[self.theme])

    def _flow(self, now: Standing, box: Box) -> None:
        """A column of votes for each ballot, with bands between them for those who went the same way."""
        left, top, right, bottom = box
        ballots = list(now.ballots.items())[-6:]
        names: list[str | None] = [*(side.name for side in self.scene.sides), None]
        thick, gap = 14.0, 4.0
        step = (right - left - thick) / (len(ballots) - 1)
        unit = (bottom - top - 20 - gap * len(names)) / max(1, *(len(votes) for _path, votes in ballots))
        tops: list[dict[str | None, float]] = []
        for number, (_path, votes) in enumerate(ballots):
            x, y, found, given = left + number * step, top, {}, Counter(votes.values())
            for name in names:
                found[name] = y
                if high := given[name] * unit:
                    column, colour = _fine((x, y, x + thick, y + high)), self._tone(self._sides.get(name or ""))
                    self._draw.rectangle(column, fill=colour)
                    y += high + gap
            tops.append(found)
        for number, ((_a, before), (_b, after)) in enumerate(zip(ballots, ballots[1:], strict=False)):
            out, into = dict(tops[number]), dict(tops[number + 1])
            x1, x2 = left + number * step + thick, left + (number + 1) * step
            ways = Counter((choice, after[member]) for member, choice in before.items() if member in after)
            for old, new in product(names, names):
                if high := ways[old, new] * unit:
                    self._band((x1, out[old]), (x2, into[new]), high, self._tone(self._sides.get(new or "")))
                    out[old] += high
                    into[new] += high
        for number, (path, _votes) in enumerate(ballots):
            ends = {0: (left, "lm"), len(ballots) - 1: (right, "rm")}
            x, anchor = ends.get(number, (left + number * step + thick / 2, "mm"))
            name, width = self.scene.ballots.get(path, ""), max(60.0, step)
            self._text(name, (x, bottom - 6), 14, self._soft, anchor=anchor, width=width)

    def _band(self, start: tuple[float, float], end: tuple[float, float], high: float, colour: str) -> None:
        (x1, y1), (x2, y2) = start, end
        parts = [n / 24 for n in range(25)]
        upper = [(x1 + (x2 - x1) * part, y1 + (y2 - y1) * part * part * (3 - 2 * part)) for part in parts]
        lower = [(x, y + high) for x, y in reversed(upper)]
        self._polygon([*upper, *lower], _between(colour, CARD[self.theme], 0.4))

    def _caption(self, shot: Shot, box: Box) -> None:
        left, top, right, bottom = box
        verdict, count = shot.kind == "verdict", shot.kind == "count"
        if shot.head:
            colour = self._soft if verdict or count else ACCENT[self.theme]
            middle = ((left + right) / 2, top + 14)
            self._text(shot.head, middle, 22, colour, weight=650, anchor="mm", width=right - left)
        size = 46 if verdict and len(shot.caption) < 40 else 34 if count else 30
        if shot.turnout:
            below: Box = (left, bottom - 44, right, bottom + 6)
            self._lines(shot.turnout, below, 17, weight=450, colour=self._soft)
            bottom -= 50
        end = bottom - 26 if shot.foot else bottom
        self._lines(shot.caption, (left, top + 32, right, end), size, weight=700 if verdict or count else 450)
        self._text(shot.foot, ((left + right) / 2, bottom - 8), 20, self._ink, anchor="mm", width=right - left)

    def _lines(self, text: str, box: Box, size: float, *, weight: int, colour: str = "", at_top: bool = False) -> None:
        """Write a text in as many lines as it needs, in the middle of its box or from its top; small where it must."""
        left, top, right, bottom = box
        chinese = _chinese(text)
        size, rows = fitted(text, right - left, bottom - top, size, weight)
        high = size * LINE_HEIGHT
        at_top = at_top or high * len(rows) > bottom - top
        y = top + high / 2 if at_top else (top + bottom) / 2 - high * (len(rows) - 1) / 2
        middle = (left + right) / 2
        for row in rows:
            self._text(row, (middle, y), size, colour or self._ink, weight=weight, anchor="mm", chinese=chinese)
            y += high

    def _text(
        self, text: str, at: tuple[float, float], size: float, colour: str, *, weight: int = 450, anchor: str = "la",
        width: float = math.inf, chinese: bool = False,
    ) -> float:  # fmt: skip
        """A line of text, cut with a mark where it would be wider than `width`; its width."""
        font = _font(chinese or _chinese(text), round(size * FINE), weight)
        if font.getlength(text) > width * FINE:
            while text and font.getlength(text + "…") > width * FINE:
                text = text[:-1]
            text = text.rstrip() + "…"
        self._draw.text((at[0] * FINE, at[1] * FINE), text, colour, font, anchor=anchor)
        return font.getlength(text) / FINE

    def _tone(self, side: Side | None) -> str:
        if side is None:
            return self._soft
        return side.dark if self.theme == "dark" else side.light


def _chinese(text: str) -> bool:
    """Whether it has a character that the app's own type has not."""
    return WIDE.search(text) is not None


def initials(name: str) -> str:
    """Two letters for a name; of a Chinese name the last two characters."""
    name = re.split(r" \(|（", name)[0]  # without what is said of a scripted member
    if _chinese(name):
        return name[-2:]
    words = name.split()
    return words[0][0] + words[-1][0] if len(words) > 1 else name[:2]


def fitted(text: str, across: float, down: float, size: float, weight: int = 450) -> tuple[float, list[str]]:
    """The largest type up to `size` in which a text has room, and its lines; never smaller than `SMALLEST`."""
    while True:
        rows = wrapped(text, _font(_chinese(text), round(size * FINE), weight), across * FINE)
        if len(rows) * size * LINE_HEIGHT <= down or size <= SMALLEST:
            return size, rows
        size -= 1


def wrapped(text: str, font: ImageFont.FreeTypeFont, width: float) -> list[str]:
    """The lines of a text: between words, or between Chinese characters, where it would be wider than `width`."""
    rows, row = [], ""
    for piece in re.findall(r"[\u2e80-\u9fff\uff00-\uffef]|[^\s\u2e80-\u9fff\uff00-\uffef]+\s*|\s+", text):
        if row and font.getlength((row + piece).rstrip()) > width and piece not in "，。！？、；：”》）":
            rows.append(row.rstrip())
            row = ""
        row += piece
    return [*rows, row.rstrip()] if row.strip() or not rows else rows


def _placed(seat: RoomSeat, box: Box) -> tuple[float, float]:
    left, top, right, bottom = box
    across, down = seat.place or (50.0, 50.0)
    return left + (right - left) * across / 100, top + (bottom - top) * down / 100


def _around(middle: tuple[float, float], radius: float) -> Box:
    return middle[0] - radius, middle[1] - radius, middle[0] + radius, middle[1] + radius


def _fine(box: Box) -> Box:
    return box[0] * FINE, box[1] * FINE, box[2] * FINE, box[3] * FINE


def _between(colour: str, ground: str, share: float) -> str:
    """A colour thinned out on its ground."""
    a, b = ImageColor.getrgb(colour), ImageColor.getrgb(ground)
    return "#" + "".join(f"{round(x * share + y * (1 - share)):02x}" for x, y in zip(a[:3], b[:3], strict=True))


TURNS = [math.pi * n / 5 for n in range(10)]
SYMBOLS: dict[str, Sequence[tuple[float, float]]] = {
    "square": ((-0.86, -0.86), (0.86, -0.86), (0.86, 0.86), (-0.86, 0.86)),
    "diamond": ((0, -1.05), (1.05, 0), (0, 1.05), (-1.05, 0)),
    "triangle-up": ((0, -1), (1.05, 0.9), (-1.05, 0.9)),
    "star": tuple((math.sin(t) * r, -math.cos(t) * r) for t, r in zip(TURNS, [1.05, 0.45] * 5, strict=True)),
    "cross": (
        (-0.34, -1), (0.34, -1), (0.34, -0.34), (1, -0.34), (1, 0.34), (0.34, 0.34),
        (0.34, 1), (-0.34, 1), (-0.34, 0.34), (-1, 0.34), (-1, -0.34), (-0.34, -0.34),
    ),
}  # fmt: skip
"""Corners of the shapes of choices, for a radius of 1. What is not here is a circle."""


@cache
def _font(chinese: bool, size: int, weight: int) -> ImageFont.FreeTypeFont:
    """The app's own type; for Chinese one of the computer's fonts. `weight`: from 200 to 900."""
    if not chinese:
        package = find_spec("streamlit")
        folder = Path(next(iter((package and package.submodule_search_locations) or ["."])))
        for file in sorted((folder / "static" / "static" / "media").glob("SourceSansVF-Upright*")):
            font = ImageFont.truetype(str(file), size)
            font.set_variation_by_axes([weight])
            return font
        return ImageFont.truetype("DejaVuSans.ttf", size)
    names = [name.replace("Regular", "Bold") for name in CHINESE_FONTS[:3]] if weight > 600 else []
    for name in (*names, *CHINESE_FONTS):
        try:
            return ImageFont.truetype(name, size, index=2 if name.startswith("NotoSansCJK") else 0)
        except OSError:
            continue
    raise CourtroomError(
        "This run has Chinese text, and no font with Chinese characters was found. "
        "Install one, such as Noto Sans CJK, and try again."
    )
