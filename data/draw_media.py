"""Draws the pictures and videos of the sample cases: `python data/draw_media.py`.

Everything is drawn from the table `SCENES`; drawing again gives the same pictures, byte by byte.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from PIL import Image, ImageDraw
from things import (
    AMBER,
    BLUE,
    GREEN,
    INK,
    RED,
    SIZE,
    WALL,
    WOOD,
    Pen,
    Scene,
    bag,
    bag_and_dust_bag,
    box,
    carpet_leak,
    chat,
    close_up,
    crack,
    feathers,
    gauge,
    glue,
    lens,
    note,
    overnight,
    packing,
    paper,
    piano,
    room,
    ruler,
    screen,
    seam,
    seat_map,
    seats,
    serials,
    shoe_box,
    soles,
    stairs,
    stroller,
    tags,
    wheel,
    words,
)

SCENES: dict[str, Scene] = {
    "phone-battery/buyer-1-settings.png": screen(["Maximum capacity", "Service advised"], "71 %", RED, "Battery page on arrival"),
    "phone-battery/buyer-2-report.png": paper(
        "Inspection report", ["Battery: not original", "Adhesive: not factory made", "Opened before: yes", "Serial 7K21-0456"], "REPLACED"
    ),
    "phone-battery/seller-1-listing.png": screen(["Maximum capacity", "Peak performance"], "92 %", GREEN, "Picture from the listing, no date"),
    "phone-battery/buyer-3-serial.png": serials,
    "vacuum-charging/buyer-2-overnight.png": overnight,
    "vacuum-charging/seller-2-packing.png": packing,
    "camera-fungus/buyer-1-fungus.png": close_up("#55606e", lens(True), "Against the light"),
    "camera-fungus/seller-1-closeup.png": close_up("#79838f", lens(False), "Picture 4 of the listing"),
    "camera-fungus/seller-1-chat.png": chat([("b", "Is there fungus?"), ("s", "There is a faint haze at the edge, as the\nclose-up in the listing shows. I would not\ncall it fungus but I am no lab."), ("b", "I can live with a little haze for the price.")]),
    "down-jacket/buyer-1-seam.png": close_up("#2a2e36", seam, "Left sleeve, inside out"),
    "down-jacket/buyer-1-feathers.png": close_up("#4a3f3a", feathers, "After one minute on the carpet"),
    "down-jacket/buyer-2-glue.png": close_up("#23272e", glue, "Macro, right sleeve"),
    "sneakers-worn/buyer-1-box.png": shoe_box,
    "sneakers-worn/seller-1-soles.png": close_up("#7d8791", soles(False), "As they came back"),
    "sneakers-worn/seller-1-before.png": close_up("#c9d2da", soles(True), "Before dispatch"),
    "sneakers-worn/seller-2-chat.png": chat([("b", "I usually wear 42.5, will 42 fit?"), ("s", "It runs true to size. The listing says\n26.5 cm inside. Please measure your foot\nbefore you order."), ("b", "I will risk it."), ("s", "Returns only if they were not worn\noutside.")]),
    "handbag-authentic/buyer-1-certificate.png": paper("Certificate", ["Stitches per inch: 9 (model: 11)", "Stamp font: differs", "Tag: 5512"], "NOT AUTHENTIC"),
    "handbag-authentic/seller-1-dustbag.png": close_up("#efe7da", bag_and_dust_bag, "Picture 2 of the listing"),
    "handbag-authentic/buyer-3-tag.png": tags,
    "oak-table/buyer-1-tape.png": close_up("#d9c3a3", ruler, "Along the long edge, in cm"),
    "oak-table/buyer-1-crack.png": close_up(WOOD, crack(True), "After delivery"),
    "oak-table/seller-1-listing.png": close_up("#c79a68", crack(False), "Picture 3 of the listing"),
    "oak-table/seller-2-freight.png": paper("Freight receipt", ["1 table, oak", "Remarks:  -", "Signature: present"], "SIGNED", BLUE),
    "stroller-wheel/buyer-1-wheel.png": close_up("#b9c2cc", wheel(False), "右前轮"),
    "stroller-wheel/buyer-2-tape.png": close_up("#a8b1bb", wheel(True), "右前轮，近照"),
    "stroller-wheel/seller-1-before.png": stroller("2026-03-15", hidden_wheel=True),
    "aquarium-filter/buyer-1-leak.png": close_up("#c7b79d", carpet_leak, "2026-04-05"),
    "aquarium-filter/seller-1-manual.png": paper("第4页  安装", ["1  先给密封圈涂硅脂", "2  再装上密封圈", "3  拧紧桶盖", "未涂硅脂可能漏水"], "注意", AMBER),
    "aquarium-filter/seller-2-chat.png": chat([("s", "注意密封圈一定要涂硅脂。"), ("b", "看到了，没关系，我会装。"), ("s", "装之前看一下说明书第4页。")]),
    "game-account/buyer-1-locked.png": screen(["Password was reset", "by SMS to *** 31", "22 May 23:10"], "Login failed", RED),
    "game-account/buyer-2-chat.png": chat([("b", "I am locked out!"), ("b", "Hello?"), ("b", "You promised to unbind it."), ("b", "Please answer.")], "Seller's number ends in 31, no reply"),
    "game-account/seller-1-login.png": paper("Login log", ["20 May 22:45  new device", "20 May 22:58  same device", "22 May 23:10  password reset", "                      by SMS"]),
    "video-course/buyer-1-contents.png": screen(["1  First steps", "2  Cells and rows", "3  Sums", "...", "40  A budget"], "40 lessons", INK),
    "video-course/seller-1-record.png": paper("Platform record", ["Lessons opened: 31 of 40", "Total time: 8 h 20 min", "Period: 9 days"], "RECORD", BLUE),
    "video-course/seller-2-listing.png": screen(["For beginners", "2 free lessons", "No refund after", "5 lessons"], "199", BLUE),
    "concert-tickets/buyer-1-pillar.png": seats,
    "concert-tickets/seller-1-ticket.png": paper("电子票", ["C区 12排 5座", "C区 12排 6座", "2026-07-21  19:30"], "已使用", GREEN),
    "concert-tickets/seller-2-chat.png": chat([("b", "视线有没有遮挡？"), ("s", "我没去过那个馆，不清楚，图上看不出来。"), ("b", "行吧，我要了。")], "2026-07-01"),
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


def pushed(number: int) -> Scene:
    """It is pushed until the wheel sticks; then it rolls on although the brake is on."""
    second, rolled = number / 6, max(0, number - 26) * 14
    return stroller(f"00:0{int(second)}", wheel_stuck=second >= 3, braked=number >= 25, shift=rolled)


VIDEOS: dict[str, tuple[int, Callable[[int], Scene]]] = {
    "phone-battery/buyer-1-unboxing.webm": (42, battery_unboxing),
    "vacuum-charging/buyer-1-blinking.webm": (36, lambda n: gauge(2, RED if n // 3 % 2 else "#4a1c16", f"00:0{n // 6}")),
    "vacuum-charging/seller-1-charging.webm": (36, lambda n: gauge(40 + n // 24, GREEN, f"00:0{n // 6}")),
    "handbag-authentic/buyer-2-unboxing.webm": (36, bag_unboxing),
    "stroller-wheel/buyer-1-unboxing.webm": (36, lambda n: box(caption=f"00:0{n // 6}") if n < 12 else pushed(n)),
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
