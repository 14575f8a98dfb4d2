"""Draws the key frames of the criminal sample cases: `python data/draw_frames.py`. Drawing again gives the same bytes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from draw_media import file_of, picture
from things import AMBER, BLUE, INK, LEATHER, PAPER, SIZE, SOFT, STEEL, WALL, WOOD, Pen, note, words

Scene = Callable[[Pen], None]
NIGHT, GLASS = "#2b3444", "#9fb6c8"


def figure(pen: Pen, x: int, y: int, coat: str, *, cap: bool = False, tall: int = 210) -> None:
    """A person in outline, without a face; a cap's peak points to the left."""
    pen.ellipse((x - 30, y - tall, x + 30, y - tall + 60), fill="#d9c3a8")
    if cap:
        pen.pieslice((x - 34, y - tall - 8, x + 34, y - tall + 56), 180, 360, fill="#8b2f2a")
        pen.rectangle((x - 54, y - tall + 18, x + 34, y - tall + 26), fill="#8b2f2a")
    pen.rounded_rectangle((x - 52, y - tall + 62, x + 52, y), 26, fill=coat)


def stamped(pen: Pen, place: str, time: str) -> None:
    """What a surveillance camera writes into its picture."""
    words(pen, (24, 20), place, 24, "#ffffff")
    words(pen, (936, 20), time, 24, "#ffffff", "ra")
    pen.ellipse((24, 560, 40, 576), fill="#e0463a")
    words(pen, (50, 556), "REC", 22, "#ffffff")


def bus(time: str, reaching: bool) -> Scene:
    """The inside of a bus from above the door."""

    def draw(pen: Pen) -> None:
        pen.rectangle((0, 0, *SIZE), fill=NIGHT)
        for left in range(40, 900, 180):
            pen.rounded_rectangle((left, 70, left + 150, 220), 12, fill=GLASS)
        pen.rectangle((0, 470, 960, 640), fill="#3d4656")
        for x in (160, 480, 800):
            pen.line((x, 60, x, 470), fill=AMBER, width=8)
        figure(pen, 430, 520, BLUE)
        pen.rounded_rectangle((378, 380, 418, 470), 10, fill=LEATHER)  # the passenger's bag
        figure(pen, 590 if not reaching else 556, 530, "#59636f", cap=True)
        if reaching:
            pen.line((510, 430, 452, 460), fill="#59636f", width=26)
            pen.ellipse((436, 446, 466, 476), fill="#d9c3a8")
            pen.rectangle((428, 440, 480, 482), outline="#e0463a", width=4)
        stamped(pen, "BUS 12  CAM 2", time)

    return draw


def exhibits(number: str, caption: str, *things: str) -> Scene:
    """Things on a table, each with a tag."""

    def draw(pen: Pen) -> None:
        pen.rectangle((0, 0, *SIZE), fill=WALL)
        pen.rectangle((0, 120, 960, 588), fill=PAPER)
        for place, thing in enumerate(things):
            left = 60 + place * 300
            shape(pen, thing, left, 220)
            pen.rectangle((left + 70, 470, left + 150, 530), fill=AMBER)
            words(pen, (left + 110, 500), f"{number}{'abc'[place]}", 30, INK, "mm")
        pen.line((60, 560, 900, 560), fill=SOFT, width=3)
        for tick in range(60, 901, 42):
            pen.line((tick, 552, tick, 568), fill=SOFT, width=2)
        note(pen, caption)

    return draw


def shape(pen: Pen, thing: str, left: int, top: int) -> None:
    """One exhibit."""
    if thing == "wallet":
        pen.rounded_rectangle((left, top + 30, left + 220, top + 170), 18, fill=LEATHER, outline=INK, width=3)
        pen.line((left, top + 100, left + 220, top + 100), fill=INK, width=3)
    elif thing == "tweezers":
        pen.line((left + 30, top + 200, left + 190, top + 40), fill=STEEL, width=12)
        pen.line((left + 56, top + 214, left + 190, top + 40), fill=SOFT, width=10)
    elif thing == "crowbar":
        bend = [(10, 190), (184, 66), (204, 40), (226, 34), (240, 52), (236, 78)]
        pen.line([(left + x, top + y) for x, y in bend], fill=INK, width=18, joint="curve")
    elif thing == "laptops":
        for shift in (0, 26):
            pen.rounded_rectangle(
                (left + shift, top + 40 + shift, left + 190 + shift, top + 160 + shift),
                10,
                fill=STEEL,
                outline=INK,
                width=3,
            )
    else:  # a case of tools
        pen.rounded_rectangle((left, top + 60, left + 230, top + 190), 14, fill=BLUE, outline=INK, width=3)
        pen.arc((left + 80, top + 20, left + 150, top + 100), 180, 360, fill=INK, width=10)


def breath(pen: Pen) -> None:
    """A breath tester's display."""
    pen.rectangle((0, 0, *SIZE), fill=NIGHT)
    pen.rounded_rectangle((260, 40, 700, 570), 40, fill="#f2f2ee", outline=INK, width=4)
    pen.rounded_rectangle((300, 90, 660, 320), 16, fill="#b9d6b2")
    words(pen, (480, 180), "189", 120, INK, "mm")
    words(pen, (480, 280), "mg / 100 ml", 34, INK, "mm")
    for x in (380, 480, 580):
        pen.ellipse((x - 34, 390, x + 34, 458), fill=STEEL, outline=INK, width=3)
    note(pen, "2024-01-20  01:24")


def checkpoint(pen: Pen) -> None:
    """A crossing from above with two police cars and one car."""
    pen.rectangle((0, 0, *SIZE), fill="#6f8a63")
    pen.rectangle((0, 240, 960, 420), fill="#4a505c")
    pen.rectangle((390, 0, 570, 588), fill="#4a505c")
    for x in range(20, 960, 90):
        pen.rectangle((x, 326, x + 44, 334), fill="#f2f2ee")
    for x, fill in ((250, BLUE), (640, BLUE), (470, "#9aa0aa")):
        pen.rounded_rectangle((x, 345, x + 110, 400), 14, fill=fill, outline=INK, width=3)
    for x in (290, 680):
        pen.rectangle((x, 362, x + 30, 382), fill="#e0463a")
    note(pen, "Checkpoint, Ring Road East")


def doorway(pen: Pen) -> None:
    """A man with a bag at a door with a broken lock, at night."""
    pen.rectangle((0, 0, *SIZE), fill="#1d2430")
    pen.rectangle((520, 90, 780, 540), fill=WOOD, outline=INK, width=4)
    pen.rectangle((536, 300, 566, 340), fill="#e0463a")
    pen.line((530, 290, 580, 350), fill=PAPER, width=5)
    figure(pen, 400, 540, "#59636f", tall=250)
    pen.rounded_rectangle((270, 400, 360, 530), 16, fill=LEATHER, outline=INK, width=3)
    stamped(pen, "CANAL STREET 3", "02:41:17")


SCENES: dict[str, Scene] = {
    "criminal-bus-wallet/bus-1.png": bus("07:52:08", False),
    "criminal-bus-wallet/bus-2.png": bus("07:53:31", True),
    "criminal-bus-wallet/bus-3.png": exhibits("3", "Exhibit 3: wallet, tweezers", "wallet", "tweezers"),
    "criminal-ring-road/breath-1.png": breath,
    "criminal-ring-road/breath-2.png": checkpoint,
    "criminal-workshop-burglary/workshop-1.png": doorway,
    "criminal-workshop-burglary/workshop-2.png": exhibits("7", "Exhibit 7: crowbar, laptops, tools", "crowbar", "laptops", "tools"),
}  # fmt: skip


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "cases"
    for name, scene in SCENES.items():
        path = file_of(target, name)
        picture(scene).quantize(128).save(path, optimize=True)
        print(path)
