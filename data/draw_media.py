"""Draws the pictures and videos of the sample cases: `python data/draw_media.py`.

Everything is drawn from the table `SCENES`; drawing again gives the same pictures, byte by byte.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

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


SCENES: dict[str, Scene] = {
    "phone-battery/buyer-1-settings.png": screen(["Maximum capacity", "Service advised"], "71 %", RED, "Battery page on arrival"),
    "phone-battery/buyer-2-report.png": paper(
        "Inspection report", ["Battery: not original", "Adhesive: not factory made", "Opened before: yes", "Serial 7K21-0456"], "REPLACED"
    ),
    "phone-battery/seller-1-listing.png": screen(["Maximum capacity", "Peak performance"], "92 %", GREEN, "Picture from the listing, no date"),
    "phone-battery/buyer-3-serial.png": paper("Receipt and label", ["Receipt:  7K21-0456", "Label:     7K21-0456"], "SAME", GREEN),
    "vacuum-charging/buyer-2-overnight.png": gauge(2, "#5a2018", "22:10 and again 07:15"),
    "vacuum-charging/seller-2-packing.png": box(caption="Packed, charger beside it"),
    "camera-fungus/buyer-1-fungus.png": close_up("#55606e", lens_spots, "Against the light: threads at the edge"),
    "camera-fungus/seller-1-closeup.png": close_up("#79838f", lens_spots, "Close-up from the listing: haze at the edge"),
    "camera-fungus/seller-1-chat.png": chat([("b", "Is there fungus?"), ("s", "A faint haze, see the close-up."), ("b", "I can live with a little haze.")]),
    "down-jacket/buyer-1-seam.png": close_up("#2a2e36", seam, "Inside of the sleeve: glued seam"),
    "down-jacket/buyer-1-feathers.png": close_up("#4a3f3a", feathers, "After one minute on the carpet"),
    "down-jacket/buyer-2-glue.png": close_up("#23272e", seam, "Old glue, yellowed"),
    "sneakers-worn/buyer-1-box.png": box(is_open=True, caption="In their box"),
    "sneakers-worn/seller-1-soles.png": close_up("#7d8791", soles(False), "As they came back"),
    "sneakers-worn/seller-1-before.png": close_up("#c9d2da", soles(True), "Before dispatch, 6 May"),
    "sneakers-worn/seller-2-chat.png": chat([("b", "Will 42 fit me?"), ("s", "Please measure your foot first."), ("b", "I will risk it."), ("s", "Returns only if not worn outside.")]),
    "handbag-authentic/buyer-1-certificate.png": paper("Certificate", ["Stitches per inch: 9 (model: 11)", "Stamp font: differs", "Tag: 5512"], "NOT AUTHENTIC"),
    "handbag-authentic/seller-1-dustbag.png": close_up("#efe7da", bag, "Dust bag and bag"),
    "handbag-authentic/buyer-3-tag.png": close_up("#d9dee6", bag, "Tag 5512: listing, video, certificate"),
    "oak-table/buyer-1-tape.png": close_up("#d9c3a3", ruler, "Along the edge"),
    "oak-table/buyer-1-crack.png": close_up(WOOD, crack, "The crack is open again, 2 mm"),
    "oak-table/seller-1-listing.png": close_up("#c79a68", crack, "Listing, third photo: filled with resin"),
    "oak-table/seller-2-freight.png": paper("Freight receipt", ["1 table, oak", "Remarks:  -", "Signature: present"], "SIGNED", BLUE),
    "stroller-wheel/buyer-1-wheel.png": close_up("#b9c2cc", tape_wrap, "00:03"),
    "stroller-wheel/buyer-2-tape.png": close_up("#a8b1bb", tape_wrap, "x 10"),
    "stroller-wheel/seller-1-before.png": stroller(False, "2026-03-15"),
    "aquarium-filter/buyer-1-leak.png": close_up("#c7b79d", carpet_leak, "2026-04-05"),
    "aquarium-filter/seller-1-manual.png": paper("4", ["O-ring", "+ silicone grease", "before mounting"], "!", AMBER),
    "aquarium-filter/seller-2-chat.png": chat([("s", "O-ring + silicone!"), ("b", "OK"), ("s", "p. 4")]),
    "game-account/buyer-1-locked.png": screen(["Password was reset", "by SMS to *** 31"], "Login failed", RED),
    "game-account/buyer-2-chat.png": chat([("b", "I am locked out!"), ("b", "Hello?"), ("b", "You promised to unbind it."), ("b", "Please answer.")], "Seller's number ends in 31, no reply"),
    "game-account/seller-1-login.png": paper("Login log", ["20 May 22:45  new device", "20 May 22:58  new device", "22 May 23:10  password reset"]),
    "video-course/buyer-1-contents.png": screen(["1  First steps", "2  Cells and rows", "3  Sums", "...", "40  A budget"], "40 lessons", INK),
    "video-course/seller-1-record.png": paper("Platform record", ["Lessons opened: 31 of 40", "Total time: 8 h 20 min", "Period: 9 days"], "RECORD", BLUE),
    "video-course/seller-2-listing.png": screen(["For beginners", "2 free lessons", "No refund after", "5 lessons"], "199", BLUE),
    "concert-tickets/buyer-1-pillar.png": seats,
    "concert-tickets/seller-1-ticket.png": paper("E-Ticket", ["C   12 - 5", "C   12 - 6", "2026-07-18"], "USED", GREEN),
    "concert-tickets/seller-2-chat.png": chat([("b", "?"), ("s", "..."), ("b", "OK")], "2026-07-01"),
    "concert-tickets/seller-3-map.png": seat_map,
    "moving-service/buyer-1-scratch.png": piano(True),
    "moving-service/buyer-1-before.png": piano(False),
    "moving-service/seller-1-slip.png": paper("Slip", ["Piano, 2nd floor", "Completed 13:30", "Damage:  ........"], "SIGNED", BLUE),
}  # fmt: skip


def battery_unboxing(number: int) -> Scene:
    second = number / 6
    if second < 2:
        return box(caption=f"00:0{int(second)}  sealed parcel")
    if second < 4:
        return box(is_open=True, caption=f"00:0{int(second)}  opened")
    return screen(["Maximum capacity", "Service advised"], "71 %", RED, f"00:0{int(second)}  battery page")


def bag_unboxing(number: int) -> Scene:
    second = number / 6
    if second < 2:
        return box(caption=f"00:0{int(second)}")
    if second < 3:
        return box(is_open=True, caption=f"00:0{int(second)}")
    return close_up("#e6e0d6", bag, f"00:0{int(second)}  tag 5512 closed")


def filter_test(number: int) -> Scene:
    def draw(pen: Pen) -> None:
        room(pen)
        pen.rounded_rectangle((330, 80, 640, 460), 40, fill="#4d5d6c")
        level = 140 + (number % 6) * 3
        pen.rounded_rectangle((360, level, 610, 440), 20, fill="#8fb9dc")
        for bubble in range(5):
            x, y = 380 + bubble * 48, 420 - ((number * 17 + bubble * 60) % 260)
            pen.ellipse((x, y, x + 16, y + 16), outline="#ffffff", width=3)
        pen.rectangle((280, 462, 690, 480), fill="#ffffff")
        pen.rounded_rectangle((720, 300, 880, 480), 16, fill=INK)
        words(pen, (800, 370), "2026", 32, "#ffffff", "mm")
        words(pen, (800, 410), "04-01", 32, "#ffffff", "mm")
        note(pen, f"00:0{number // 6}")

    return draw


VIDEOS: dict[str, tuple[int, Callable[[int], Scene]]] = {
    "phone-battery/buyer-1-unboxing.webm": (42, battery_unboxing),
    "vacuum-charging/buyer-1-blinking.webm": (36, lambda n: gauge(2, RED if n // 3 % 2 else "#4a1c16", f"00:0{n // 6}")),
    "vacuum-charging/seller-1-charging.webm": (36, lambda n: gauge(40 + n // 8, GREEN, f"00:0{n // 6}")),
    "handbag-authentic/buyer-2-unboxing.webm": (36, bag_unboxing),
    "stroller-wheel/buyer-1-unboxing.webm": (36, lambda n: box(caption=f"00:0{n // 6}") if n < 12 else stroller(n >= 18, f"00:0{n // 6}")),
    "aquarium-filter/seller-1-test.webm": (42, filter_test),
    "moving-service/buyer-2-stairs.webm": (32, lambda n: stairs(n // 2)),
}  # fmt: skip
RATE = 6.0
"""Frames a second."""


def picture(scene: Scene) -> Image.Image:
    """One drawn picture."""
    image = Image.new("RGB", SIZE, WALL)
    scene(ImageDraw.Draw(image))
    return image


def file_of(folder: Path, name: str) -> Path:
    """`case/file` as a path in the case's media folder."""
    case, _, file = name.partition("/")
    path = folder / case / "media" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def draw_pictures(folder: Path, names: list[str] | None = None) -> Iterator[Path]:
    """Draw pictures as PNG with a palette, which keeps them small."""
    for name in names or SCENES:
        path = file_of(folder, name)
        picture(SCENES[name]).quantize(128).save(path, optimize=True)
        yield path


def draw_videos(folder: Path) -> Iterator[Path]:
    """Write videos as VP8 in WebM, which every browser plays."""
    import cv2
    import numpy as np

    for name, (count, scene) in VIDEOS.items():
        path = file_of(folder, name)
        writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"VP80"), RATE, SIZE)
        for number in range(count):
            writer.write(cv2.cvtColor(np.array(picture(scene(number))), cv2.COLOR_RGB2BGR))
        writer.release()
        yield path


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "cases"
    for drawn in (*draw_pictures(target), *draw_videos(target)):
        print(drawn)
