"""Things that the pictures and videos of the sample cases show, each drawn on a canvas of one size."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from PIL import ImageDraw, ImageFont

SIZE = (960, 640)
INK, SOFT, PAPER = "#26303f", "#7b8494", "#fbfaf7"
WALL, WOOD, LEATHER, STEEL = "#e9eef4", "#b98a5a", "#b5733c", "#c3cad4"
RED, GREEN, BLUE, AMBER = "#c8452f", "#2f8f63", "#2f6fb0", "#d99a2b"

Pen = ImageDraw.ImageDraw
Scene = Callable[[Pen], None]


CHINESE_FONT = "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc"
"""Debian's fonts-noto-cjk."""


@cache
def font(size: int, chinese: bool) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.truetype(CHINESE_FONT, size, index=2) if chinese else ImageFont.load_default(size)


def words(pen: Pen, at: tuple[int, int], text: str, size: int = 30, fill: str = INK, anchor: str = "la") -> None:
    chinese = any("\u4e00" <= letter <= "\u9fff" for letter in text)
    pen.text(at, text, fill=fill, font=font(size, chinese), anchor=anchor)


def room(pen: Pen, floor: str = "#d8cbb8") -> None:
    pen.rectangle((0, 0, *SIZE), fill=WALL)
    pen.rectangle((0, 440, *SIZE), fill=floor)


def note(pen: Pen, text: str) -> None:
    """A caption strip at the bottom."""
    pen.rectangle((0, 588, 960, 640), fill=INK)
    words(pen, (24, 614), text, 26, "#ffffff", "lm")


def screen(lines: list[str], big: str = "", colour: str = INK, caption: str = "") -> Scene:
    """A phone showing a big value and lines of text."""

    def draw(pen: Pen) -> None:
        room(pen, WALL)
        pen.rounded_rectangle((270, 24, 690, 576), 44, fill=INK)
        pen.rounded_rectangle((288, 44, 672, 556), 30, fill=PAPER)
        pen.rounded_rectangle((430, 52, 530, 66), 7, fill=INK)
        top = 110
        if big:
            words(pen, (480, 170), big, 92 if len(big) < 7 else 54, colour, "mm")
            top = 260
        for line in lines:
            words(pen, (316, top), line, 27, INK)
            pen.line((316, top + 44, 644, top + 44), fill="#e3e6eb", width=2)
            top += 62
        if caption:
            note(pen, caption)

    return draw


def chat(lines: list[tuple[str, str]], caption: str = "") -> Scene:
    """Chat bubbles: `b` on the left, `s` on the right; a text is broken where it has a line break."""

    def draw(pen: Pen) -> None:
        pen.rectangle((0, 0, *SIZE), fill="#eef2f6")
        top = 40
        for who, text in lines:
            rows = text.split("\n")
            left, fill = (60, "#ffffff") if who == "b" else (300, "#cfe6d8")
            height = 52 + 38 * len(rows)
            pen.rounded_rectangle((left, top, left + 620, top + height), 22, fill=fill)
            for number, row in enumerate(rows):
                words(pen, (left + 28, top + 45 + 38 * number), row, 28, INK, "lm")
            top += height + 24
        if caption:
            note(pen, caption)

    return draw


def paper(title: str, lines: list[str], stamp: str = "", colour: str = RED) -> Scene:
    """A document with a stamp."""

    def draw(pen: Pen) -> None:
        pen.rectangle((0, 0, *SIZE), fill="#cfd6df")
        pen.polygon([(190, 30), (790, 30), (790, 610), (190, 610)], fill="#ffffff")
        words(pen, (230, 70), title, 38)
        pen.line((230, 130, 750, 130), fill=INK, width=3)
        for row, line in enumerate(lines):
            words(pen, (230, 165 + row * 58), line, 28, INK)
        if stamp:
            pen.rounded_rectangle((480, 470, 760, 570), 14, outline=colour, width=7)
            words(pen, (620, 520), stamp, 34 if len(stamp) < 10 else 30, colour, "mm")

    return draw


def box(dented: bool = False, is_open: bool = False, caption: str = "") -> Scene:
    """A parcel on a table."""

    def draw(pen: Pen) -> None:
        room(pen)
        pen.polygon([(260, 250), (640, 250), (640, 520), (260, 520)], fill="#c99f6c")
        pen.polygon([(640, 250), (760, 190), (760, 450), (640, 520)], fill="#a9804f")
        if is_open:
            pen.polygon([(260, 250), (200, 170), (400, 190), (450, 250)], fill="#dab684")
            pen.polygon([(450, 250), (560, 160), (700, 180), (640, 250)], fill="#dab684")
        else:
            pen.polygon([(260, 250), (380, 190), (760, 190), (640, 250)], fill="#dab684")
            pen.rectangle((425, 250, 475, 520), fill="#e8d9b8")
        if dented:
            pen.polygon([(260, 420), (330, 470), (300, 520), (260, 520)], fill="#8f6a3f")
        pen.rectangle((520, 300, 610, 360), fill="#ffffff")
        for line in range(4):
            pen.line((530, 312 + line * 12, 600, 312 + line * 12), fill=INK, width=3)
        if caption:
            note(pen, caption)

    return draw


def close_up(ground: str, mark: Scene, caption: str) -> Scene:
    """A surface near the eye, with something on it."""

    def draw(pen: Pen) -> None:
        pen.rectangle((0, 0, *SIZE), fill=ground)
        for x in range(0, 960, 48):
            pen.line((x, 0, x + 90, 640), fill=_shade(ground, 0.95), width=5)
        mark(pen)
        note(pen, caption)

    return draw


def scratch(pen: Pen) -> None:
    pen.line([(180, 470), (340, 380), (520, 330), (760, 180)], fill="#e9cfa7", width=16, joint="curve")
    pen.line([(182, 470), (342, 382), (522, 332), (762, 182)], fill="#7c5430", width=5, joint="curve")


def seam(pen: Pen) -> None:
    """The inside of a sleeve with a scale: six centimetres of a seam are glued, and feathers come out of it."""
    pen.line([(60, 300), (900, 300)], fill="#14171c", width=10)
    for x in (*range(70, 200, 34), *range(770, 900, 34)):
        pen.line((x, 276, x + 14, 324), fill="#8d93a0", width=4)
    pen.rounded_rectangle((210, 280, 750, 320), 16, fill="#a99a62")
    for x, y in ((250, 236), (360, 226), (470, 240), (600, 228), (690, 236), (420, 330), (560, 334)):
        pen.line((x, y, x + 44, y + 50 if y < 300 else y + 40), fill="#f5f5f2", width=5)
        pen.ellipse((x - 14, y - 16, x + 22, y + 4), fill="#f5f5f2")
    pen.rectangle((210, 430, 750, 490), fill="#f4f2ea")
    for n in range(61):
        pen.line((210 + n * 9, 430, 210 + n * 9, 446 if n % 10 else 460), fill=INK, width=2)
    words(pen, (218, 474), "0", 22, INK, "lm")
    words(pen, (742, 474), "6 cm", 22, INK, "rm")


def glue(pen: Pen) -> None:
    """Glue from very near: yellow, cracked, with lint in it."""
    pen.polygon([(0, 180), (960, 120), (960, 430), (0, 470)], fill="#c7a845")
    pen.polygon([(0, 230), (960, 180), (960, 280), (0, 320)], fill="#dcc26a")
    for n in range(9):
        x = 60 + n * 104
        pen.line([(x, 190 - n * 4), (x + 24, 290), (x - 8, 380), (x + 20, 440)], fill="#7b6420", width=4, joint="curve")
    for n in range(26):
        x, y = (n * 157) % 920, 190 + (n * 61) % 220
        pen.arc((x, y, x + 60, y + 30), 20 * n % 360, 20 * n % 360 + 150, fill="#5c6470", width=4)


def feathers(pen: Pen) -> None:
    pen.rounded_rectangle((330, 150, 640, 520), 60, fill="#171a20")
    for n in range(70):
        x, y = (n * 137) % 930, (n * 89) % 560
        pen.ellipse((x, y, x + 22, y + 9), fill="#f4f4f0")


def crack(is_open: bool) -> Scene:
    """A crack that was filled with resin: whole, or open again beside a scale in millimetres."""

    def mark(pen: Pen) -> None:
        way = [(90, 300), (300, 330), (520, 290), (870, 340)]
        pen.line(way, fill="#d8b46a", width=26, joint="curve")
        pen.line(way, fill="#e6c888", width=10, joint="curve")
        if is_open:
            pen.line([(200, 320), (300, 334), (520, 294), (760, 330)], fill="#160d06", width=14, joint="curve")
            pen.rectangle((430, 350, 640, 440), fill="#f4f2ea")
            for n in range(20):
                pen.line((440 + n * 10, 350, 440 + n * 10, 372 if n % 5 else 388), fill=INK, width=2)
            words(pen, (535, 415), "mm", 26, INK, "mm")
            words(pen, (660, 400), "opening: 2 mm", 28, "#ffffff", "lm")

    return mark


def wheel(old_tape: bool) -> Scene:
    """A wheel's hub: the axle is split under clear tape; or nearer, the tape is yellow and dust sits in its edges."""

    def mark(pen: Pen) -> None:
        pen.ellipse((230, 20, 750, 540), fill="#2c3036")
        pen.ellipse((330, 120, 650, 440), fill=STEEL)
        pen.rounded_rectangle((430, 180, 550, 380), 30, fill="#8b93a0")
        pen.line([(470, 190), (500, 250), (476, 300), (512, 370)], fill="#111318", width=9, joint="curve")
        if not old_tape:
            for top in (215, 275, 335):
                pen.polygon([(410, top), (570, top - 12), (570, top + 20), (410, top + 32)], outline="#f4f8fb", width=4)
            return
        for top in (170, 250, 330):
            pen.polygon([(360, top), (620, top - 20), (620, top + 46), (360, top + 66)], fill="#d2b850")
            for n in range(30):
                x, y = 360 + (n * 83) % 260, top + 52 - (n * 7) % 12 - (n * 83 % 260) // 13
                pen.ellipse((x, y, x + 8, y + 6), fill="#5b5448")

    return mark


def lens(threads: bool) -> Scene:
    """A lens: against the light with branching threads at the edge; or from the listing, a soft haze with an arrow."""

    def mark(pen: Pen) -> None:
        pen.ellipse((230, 20, 750, 540), fill="#1f2731")
        pen.ellipse((290, 80, 690, 480), fill="#b9d3e6" if threads else "#90a6b8")
        if threads:
            for n in range(7):
                x, y = 330 + n * 14, 190 - n * 14
                pen.line([(x, y), (x + 40, y + 16), (x + 74, y + 44)], fill="#31404d", width=4, joint="curve")
                pen.line([(x + 40, y + 16), (x + 58, y + 4), (x + 86, y + 10)], fill="#31404d", width=3, joint="curve")
                pen.line([(x + 74, y + 44), (x + 98, y + 44)], fill="#31404d", width=2)
                pen.line([(x + 74, y + 44), (x + 82, y + 68)], fill="#31404d", width=2)
        else:
            for n in range(9):
                edge = 300 + n * 7
                pen.arc(
                    (edge, 90 + n * 7, 680 - n * 7, 470 - n * 7),
                    170,
                    260,
                    fill=_shade("#b9c6d0", 1 - n * 0.025),
                    width=9,
                )
            for n in range(14):
                x, y = 330 + (n * 37) % 100, 150 + (n * 29) % 90
                pen.ellipse((x, y, x + 4, y + 4), fill="#dfe7ec")
            pen.line((860, 60, 452, 176), fill=RED, width=8)
            pen.polygon([(430, 182), (474, 148), (484, 186)], fill=RED)

    return mark


def soles(clean: bool) -> Scene:
    """Two soles: worn, or clean with a dated receipt beside them."""

    def mark(pen: Pen) -> None:
        if clean:
            pen.rectangle((710, 180, 940, 440), fill="#ffffff", outline=SOFT, width=3)
            words(pen, (825, 220), "Receipt", 32, INK, "mm")
            words(pen, (825, 290), "2026-05-06", 32, INK, "mm")
            words(pen, (825, 350), "size 42", 28, SOFT, "mm")
        for left in (110, 410) if clean else (200, 520):
            pen.rounded_rectangle((left, 60, left + 240, 550), 110, fill="#f3f4f2" if clean else "#b7b2a8")
            for row in range(10):
                pen.line((left + 30, 110 + row * 42, left + 210, 110 + row * 42), fill="#8f9aa6", width=10)
            if not clean:
                pen.ellipse((left + 40, 430, left + 200, 540), fill="#6d665c")
                for n in range(24):
                    x, y = left + 20 + (n * 53) % 200, 90 + (n * 71) % 420
                    pen.ellipse((x, y, x + 9, y + 9), fill="#4f463c")

    return mark


def ruler(pen: Pen) -> None:
    """A tape measure along a table's edge: the wood ends at 158, two centimetres before 160."""
    pen.rectangle((0, 60, 960, 250), fill="#8c9196")
    pen.rectangle((0, 60, 736, 250), fill=WOOD)
    pen.line((736, 60, 736, 250), fill=INK, width=4)
    pen.rectangle((0, 250, 960, 400), fill=AMBER)
    for n in range(151, 163):
        x = 16 + (n - 149) * 80
        pen.line((x, 250, x, 300), fill=INK, width=4)
        pen.line((x - 40, 250, x - 40, 276), fill=INK, width=2)
        words(pen, (x, 340), str(n), 30, RED if n % 10 == 0 else INK, "mm")


def gauge(percent: int, lamp: str, at: str = "", left: int = 330) -> Scene:
    """The handle of a cordless vacuum with its gauge; a cable runs from its foot to a charger at the wall, its print too small to read."""

    def draw(pen: Pen) -> None:
        if left == 330:
            room(pen)
        pen.rounded_rectangle((left, 40, left + 300, 540), 60, fill="#39424f")
        pen.rounded_rectangle((left + 40, 90, left + 260, 310), 24, fill="#10151d")
        words(pen, (left + 150, 180), f"{percent} %", 76, "#ffffff" if percent > 10 else RED, "mm")
        pen.rounded_rectangle((left + 70, 250, left + 230, 280), 8, outline="#ffffff", width=4)
        pen.rectangle((left + 76, 256, left + 76 + int(1.48 * percent), 274), fill=GREEN if percent > 10 else RED)
        pen.ellipse((left + 125, 380, left + 175, 430), fill=lamp)
        words(pen, (left + 150, 460), "CHARGE", 24, STEEL, "mm")
        pen.line([(left + 150, 540), (left + 150, 566), (left + 380, 566), (left + 380, 330)], fill=INK, width=10)
        pen.rounded_rectangle((left + 330, 230, left + 430, 340), 16, fill=INK)
        for y, width in ((262, 52), (272, 40), (282, 60), (292, 34)):
            pen.line((left + 352, y, left + 352 + width, y), fill=STEEL, width=2)
        if at:
            note(pen, at)

    return draw


def overnight(pen: Pen) -> None:
    """Two photos of the same gauge, each with the time that the phone wrote on it."""
    room(pen)
    for left, time in ((30, "14 Jan  22:10"), (510, "15 Jan  07:15")):
        gauge(2, "#5a2018", left=left)(pen)
        pen.rectangle((left, 12, left + 220, 52), fill=INK)
        words(pen, (left + 12, 32), time, 26, "#ffffff", "lm")
    pen.rectangle((474, 0, 486, 640), fill="#ffffff")


def packing(pen: Pen) -> None:
    """An open carton from above: the vacuum in bubble film, the charger beside it."""
    pen.rectangle((0, 0, *SIZE), fill="#d8cbb8")
    pen.rectangle((60, 60, 660, 580), fill="#a9804f")
    pen.rectangle((90, 90, 630, 550), fill="#8f6a3f")
    pen.rounded_rectangle((130, 190, 590, 450), 70, fill="#5d6876")
    pen.rounded_rectangle((160, 250, 330, 390), 20, fill="#2a323d")
    pen.rounded_rectangle((420, 290, 560, 350), 20, fill="#8796a8")
    for x in range(120, 610, 34):
        for y in range(176, 470, 34):
            pen.ellipse((x, y, x + 26, y + 26), outline="#dfe9f2", width=3)
    words(pen, (360, 512), "bubble film", 24, "#f3ead9", "mm")
    pen.rounded_rectangle((720, 150, 860, 250), 16, fill=INK)
    for x in (760, 810):
        pen.rectangle((x, 110, x + 12, 150), fill=STEEL)
    pen.line([(790, 250), (790, 330), (900, 380), (740, 440), (880, 500)], fill=INK, width=9, joint="curve")
    pen.rounded_rectangle((856, 486, 910, 516), 8, fill=INK)
    words(pen, (748, 180), "29 V", 30, "#ffffff", "lm")
    for y, width in ((205, 62), (219, 92), (233, 52)):
        pen.line((748, y, 748 + width, y), fill=STEEL, width=3)
    words(pen, (790, 560), "charger", 24, INK, "mm")


def carpet_leak(pen: Pen) -> None:
    pen.rounded_rectangle((330, 60, 640, 420), 40, fill="#4d5d6c")
    pen.rounded_rectangle((360, 40, 610, 100), 20, fill="#2f3a45")
    pen.ellipse((180, 400, 800, 560), fill="#8fb9dc")
    for x in (400, 480, 560):
        pen.polygon([(x, 380), (x - 14, 420), (x + 14, 420)], fill="#8fb9dc")


def bag(pen: Pen) -> None:
    pen.arc((330, 60, 630, 360), 180, 360, fill=_shade(LEATHER, 0.7), width=20)
    pen.rounded_rectangle((240, 220, 720, 540), 46, fill=LEATHER)
    pen.rectangle((440, 300, 520, 350), fill="#e0c060")
    pen.rounded_rectangle((730, 300, 860, 380), 10, fill="#ffffff", outline=INK, width=3)
    words(pen, (795, 340), "5512", 36, INK, "mm")


def bag_and_dust_bag(pen: Pen) -> None:
    pen.rounded_rectangle((120, 40, 560, 560), 30, fill="#cfc4b0")
    pen.line([(120, 110), (560, 110)], fill="#9c8f78", width=8)
    pen.line([(340, 110), (300, 20), (380, 20), (340, 110)], fill="#9c8f78", width=6)
    words(pen, (210, 170), "dust bag", 28, "#7d705a", "mm")
    bag(pen)


def tags(pen: Pen) -> None:
    """Three cut-outs with the same tag, each under the name of where it comes from."""
    pen.rectangle((0, 0, *SIZE), fill="#d9dee6")
    for left, source, ground in (
        (30, "listing photo", "#efe7da"),
        (340, "video still", "#e6e0d6"),
        (650, "certificate", "#ffffff"),
    ):
        pen.rectangle((left, 90, left + 280, 480), fill=ground, outline=INK, width=3)
        if source != "certificate":
            pen.rectangle((left + 3, 93, left + 120, 477), fill=LEATHER)
            pen.line((left + 120, 190, left + 160, 240), fill=INK, width=4)
        else:
            words(pen, (left + 24, 130), "Tag number", 26)
        pen.rounded_rectangle((left + 120, 230, left + 260, 330), 10, fill="#ffffff", outline=INK, width=3)
        words(pen, (left + 190, 280), "5512", 44, INK, "mm")
        words(pen, (left + 140, 530), source, 28, INK, "mm")


def serials(pen: Pen) -> None:
    """A phone's back with its label, and a receipt, side by side."""
    pen.rectangle((0, 0, *SIZE), fill="#cfd6df")
    pen.rounded_rectangle((70, 30, 430, 610), 50, fill="#3a424e")
    pen.ellipse((110, 70, 190, 150), fill="#151a21")
    pen.rectangle((110, 400, 390, 520), fill="#ffffff")
    words(pen, (130, 425), "S/N", 26, SOFT)
    words(pen, (130, 465), "7K21-0456", 38)
    pen.rectangle((520, 60, 890, 600), fill="#ffffff")
    words(pen, (550, 90), "Receipt", 36)
    pen.line((550, 150, 860, 150), fill=INK, width=3)
    words(pen, (550, 180), "1 phone", 28)
    words(pen, (550, 240), "S/N", 26, SOFT)
    words(pen, (550, 280), "7K21-0456", 38)


def shoe_box(pen: Pen) -> None:
    """A pair of shoes in its box from above; the soles lie below."""
    pen.rectangle((0, 0, *SIZE), fill="#d8cbb8")
    pen.rectangle((150, 60, 810, 560), fill="#c77b4a")
    pen.rectangle((180, 90, 780, 530), fill="#f7f3ea")
    for left in (230, 500):
        pen.rounded_rectangle((left, 120, left + 220, 500), 100, fill="#f3f4f2", outline=SOFT, width=4)
        pen.ellipse((left + 50, 350, left + 170, 480), fill="#3d4656")
        for row in range(4):
            pen.line((left + 60, 200 + row * 36, left + 160, 214 + row * 36), fill=BLUE, width=8)


def seats(pen: Pen) -> None:
    pen.rectangle((0, 0, *SIZE), fill="#1b2130")
    pen.polygon([(40, 60), (600, 60), (540, 220), (100, 220)], fill="#f0c96b")
    for number, x in ((5, 270), (6, 560)):
        pen.rounded_rectangle((x, 380, x + 150, 560), 26, fill="#9c3848")
        words(pen, (x + 75, 470), str(number), 64, "#ffffff", "mm")
    pen.rectangle((450, 40, 530, 590), fill="#8c93a1")


def seat_map(pen: Pen) -> None:
    pen.rectangle((0, 0, *SIZE), fill=PAPER)
    pen.rounded_rectangle((280, 40, 680, 110), 20, fill=AMBER)
    for row in range(6):
        for column in range(14):
            chosen = row == 3 and column in (4, 5)
            x, y = 120 + column * 52, 170 + row * 66
            pen.rounded_rectangle((x, y, x + 40, y + 46), 8, fill=RED if chosen else "#c9d3df")
    words(pen, (480, 600), "C 12-5, 12-6", 32, INK, "mm")


def piano(is_scratched: bool) -> Scene:
    """A piano's side panel."""

    def draw(pen: Pen) -> None:
        room(pen)
        pen.rounded_rectangle((260, 70, 740, 540), 10, fill="#3b2a20")
        pen.rectangle((260, 300, 740, 350), fill="#f4f1ea")
        for x in range(260, 740, 24):
            pen.line((x, 300, x, 350), fill=INK, width=3)
        if is_scratched:
            pen.line([(300, 500), (560, 390)], fill="#d9b98b", width=12)
        else:
            pen.rectangle((60, 380, 220, 540), fill="#ffffff")
            words(pen, (140, 410), "NEWS", 34, INK, "mm")
            words(pen, (140, 450), "1 April", 24, SOFT, "mm")

    return draw


def stroller(
    at: str, *, wheel_stuck: bool = False, braked: bool = False, shift: int = 0, hidden_wheel: bool = False
) -> Scene:
    """A pushchair; its right front wheel may stand askew, or be hidden, and it may roll although the brake is on."""

    def draw(pen: Pen) -> None:
        room(pen)
        pen.pieslice((300 + shift, 80, 660 + shift, 440), 180, 360, fill="#5577a0")
        pen.polygon([(300 + shift, 260), (660 + shift, 260), (600 + shift, 410), (360 + shift, 410)], fill="#7c9cc4")
        pen.line((350 + shift, 250, 220 + shift, 130), fill=INK, width=14)
        for x in (360 + shift, 600 + shift):
            stuck = wheel_stuck and x == 600 + shift
            pen.line((x, 400, x, 480), fill=STEEL, width=12)
            pen.ellipse((x - 46 + 14 * stuck, 450, x + 46 - 14 * stuck, 542), fill=INK)
            pen.ellipse((x - 18, 478, x + 18, 514), fill=STEEL)
            if stuck:
                pen.line((x - 30, 440, x + 34, 556), fill="#d6c67a", width=12)
        if braked:
            pen.rounded_rectangle((300 + shift, 430, 350 + shift, 452), 8, fill=RED)
            words(pen, (325 + shift, 412), "STOP", 20, RED, "mm")
            pen.line((40, 560, 300 + shift, 560), fill=SOFT, width=4)
        if hidden_wheel:
            pen.rounded_rectangle((520, 400, 920, 560), 30, fill="#8c6f58")
            pen.rounded_rectangle((560, 330, 900, 430), 30, fill="#a5856a")
        note(pen, at)

    return draw


def stairs(step: int) -> Scene:
    """Two people carry a piano; it comes closer to the railing."""

    def draw(pen: Pen) -> None:
        pen.rectangle((0, 0, *SIZE), fill="#dfe5ec")
        for n in range(8):
            pen.rectangle((n * 120, 560 - n * 60, 960, 640), fill=_shade("#b9b2a6", 1 - n * 0.03))
        pen.line((0, 430, 900, 0), fill="#5b4636", width=14)
        x, y = 250 + step * 22, 300 - step * 14
        pen.polygon([(x, y), (x + 230, y - 90), (x + 260, y + 90), (x + 40, y + 180)], fill="#3b2a20")
        pen.polygon([(x + 120, y - 45), (x + 230, y - 90), (x + 260, y + 90), (x + 160, y + 130)], fill="#9fb2c8")
        for px, py in ((x - 40, y + 80), (x + 290, y - 60)):
            pen.ellipse((px, py, px + 60, py + 60), fill="#e4b894")
            pen.rectangle((px + 5, py + 60, px + 55, py + 190), fill=BLUE)
        touching = 7 <= step <= 11
        if touching:
            pen.ellipse((x - 26, y - 26, x + 40, y + 40), outline=RED, width=8)
        note(pen, f"00:0{step // 2}" + ("  touches the railing" if touching else ""))

    return draw


def _shade(colour: str, factor: float) -> str:
    channels = (min(255, int(int(colour[i : i + 2], 16) * factor)) for i in (1, 3, 5))
    return "#" + "".join(f"{channel:02x}" for channel in channels)
