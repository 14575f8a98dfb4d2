"""Things that the pictures and videos of the sample cases show, each drawn on a canvas of one size."""

from __future__ import annotations

from collections.abc import Callable

from PIL import ImageDraw, ImageFont

SIZE = (960, 640)
INK, SOFT, PAPER = "#26303f", "#7b8494", "#fbfaf7"
WALL, WOOD, LEATHER, STEEL = "#e9eef4", "#b98a5a", "#b5733c", "#c3cad4"
RED, GREEN, BLUE, AMBER = "#c8452f", "#2f8f63", "#2f6fb0", "#d99a2b"

Pen = ImageDraw.ImageDraw
Scene = Callable[[Pen], None]


def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def words(pen: Pen, at: tuple[int, int], text: str, size: int = 30, fill: str = INK, anchor: str = "la") -> None:
    pen.text(at, text, fill=fill, font=font(size), anchor=anchor)


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
    """Chat bubbles: `b` on the left, `s` on the right."""

    def draw(pen: Pen) -> None:
        pen.rectangle((0, 0, *SIZE), fill="#eef2f6")
        top = 60
        for who, text in lines:
            left, fill = (60, "#ffffff") if who == "b" else (300, "#cfe6d8")
            pen.rounded_rectangle((left, top, left + 600, top + 92), 22, fill=fill)
            words(pen, (left + 28, top + 46), text, 28, INK, "lm")
            top += 124
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
    pen.line([(160, 320), (800, 320)], fill="#14171c", width=10)
    for x in range(170, 800, 40):
        pen.line((x, 296, x + 14, 344), fill="#8d93a0", width=4)
    pen.rounded_rectangle((360, 296, 640, 344), 20, fill="#cdb25a")
    for x, y in ((420, 280), (520, 270), (600, 284), (470, 360), (560, 366)):
        pen.ellipse((x, y, x + 34, y + 12), fill="#f5f5f2")


def feathers(pen: Pen) -> None:
    pen.rounded_rectangle((330, 150, 640, 520), 60, fill="#171a20")
    for n in range(70):
        x, y = (n * 137) % 930, (n * 89) % 560
        pen.ellipse((x, y, x + 22, y + 9), fill="#f4f4f0")


def crack(pen: Pen) -> None:
    pen.line([(90, 300), (300, 330), (520, 290), (870, 340)], fill="#3a2413", width=9, joint="curve")
    pen.line([(300, 330), (520, 290)], fill="#d8b46a", width=22, joint="curve")
    pen.line([(300, 330), (520, 290)], fill="#2a1a0d", width=4, joint="curve")


def tape_wrap(pen: Pen) -> None:
    pen.ellipse((300, 110, 660, 470), fill="#2c3036")
    pen.ellipse((400, 210, 560, 370), fill=STEEL)
    pen.polygon([(430, 90), (560, 110), (500, 480), (400, 470)], fill="#d6c67a")
    pen.line([(480, 240), (520, 330)], fill="#111318", width=6)


def lens_spots(pen: Pen) -> None:
    pen.ellipse((260, 60, 700, 500), fill="#2b3440")
    pen.ellipse((320, 120, 640, 440), fill="#9fb7cc")
    for n in range(26):
        x, y = 350 + (n * 47) % 120, 150 + (n * 31) % 70
        pen.line((x, y, x + 18, y + 10), fill="#f3f7fa", width=3)
    pen.line((760, 120, 500, 190), fill=RED, width=6)


def soles(clean: bool) -> Scene:
    """Two soles, clean or worn."""

    def mark(pen: Pen) -> None:
        for left in (200, 520):
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
    pen.rectangle((0, 250, 960, 390), fill=AMBER)
    for n in range(0, 960, 24):
        pen.line((n, 250, n, 300 if n % 120 else 330), fill=INK, width=4)
    pen.rectangle((700, 60, 960, 250), fill=_shade(WOOD, 0.8))
    pen.rectangle((0, 60, 700, 250), fill=WOOD)
    words(pen, (690, 350), "158 cm", 56, INK, "mm")


def gauge(percent: int, lamp: str, at: str = "") -> Scene:
    """An appliance's battery gauge."""

    def draw(pen: Pen) -> None:
        room(pen)
        pen.rounded_rectangle((330, 60, 630, 560), 60, fill="#39424f")
        pen.rounded_rectangle((370, 110, 590, 330), 24, fill="#10151d")
        words(pen, (480, 200), f"{percent} %", 76, "#ffffff" if percent > 10 else RED, "mm")
        pen.rounded_rectangle((400, 270, 560, 300), 8, outline="#ffffff", width=4)
        pen.rectangle((406, 276, 406 + int(1.48 * percent), 294), fill=GREEN if percent > 10 else RED)
        pen.ellipse((455, 400, 505, 450), fill=lamp)
        if at:
            note(pen, at)

    return draw


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


def seats(pen: Pen) -> None:
    pen.rectangle((0, 0, *SIZE), fill="#1b2130")
    pen.polygon([(200, 60), (760, 60), (700, 220), (260, 220)], fill="#f0c96b")
    for number, x in ((5, 270), (6, 560)):
        pen.rounded_rectangle((x, 380, x + 150, 560), 26, fill="#9c3848")
        words(pen, (x + 75, 470), str(number), 64, "#ffffff", "mm")
    pen.rectangle((450, 40, 530, 590), fill="#8c93a1")


def seat_map(pen: Pen) -> None:
    pen.rectangle((0, 0, *SIZE), fill=PAPER)
    pen.rounded_rectangle((280, 40, 680, 110), 20, fill=AMBER)
    for row in range(6):
        for column in range(14):
            chosen = row == 3 and column in (5, 6)
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


def stroller(wheel_stuck: bool, at: str) -> Scene:
    """A pushchair; its right front wheel may stand askew."""

    def draw(pen: Pen) -> None:
        room(pen)
        pen.pieslice((300, 80, 660, 440), 180, 360, fill="#5577a0")
        pen.polygon([(300, 260), (660, 260), (600, 410), (360, 410)], fill="#7c9cc4")
        pen.line((650, 250, 780, 130), fill=INK, width=14)
        for x in (360, 600):
            pen.line((x, 400, x, 480), fill=STEEL, width=12)
            fill = RED if wheel_stuck and x == 600 else INK
            pen.ellipse((x - 46, 450, x + 46, 542), fill=fill)
            pen.ellipse((x - 18, 478, x + 18, 514), fill=STEEL)
        if wheel_stuck:
            pen.line((560, 440, 660, 560), fill="#d6c67a", width=16)
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
