"""What a page shows, as Streamlit's test harness has it: every text of every element, tooltips and placeholders too."""

import re
from collections.abc import Iterator
from typing import Any

from google.protobuf.message import Message
from streamlit.testing.v1 import AppTest

UNSEEN = {
    *("id", "element_id", "form_id", "icon", "url", "key", "css", "js", "html_content", "link_url", "query_string", "page_script_hash"),
    *("type", "file_type", "accept_file_type", "body_type", "language", "color", "selection_mode", "theme", "config_text", "spec", "mode"),
    *("max_chars", "deferred_file_id", "component_name", "arrow_data", "json", "mixed", "bytes", "figure", "codec", "width_config", "style"),
    *("format", "heading", "tag", "anchor", "default", "value", "set_value", "default_value", "icon_position", "shortcut"),
}  # fmt: skip
"""Fields of elements that a reader doesn't see, or that hold what somebody typed or chose."""
ENGLISH = re.compile(r"[A-Za-z]{2,}[,;:]? +\(?[A-Za-z]{2,}")


def shown(app: AppTest) -> Iterator[str]:
    """Every text of a page, a piece each."""
    for element in app._tree:
        proto = getattr(element, "proto", None)
        if not isinstance(proto, Message) or proto.DESCRIPTOR.name == "BidiComponent":
            continue  # the room's own program; what it says is tested beside it
        yield from _strings(proto)
        value = element.value if element.type in ("arrow_data_frame", "dataframe") else None
        if value is not None:
            yield from (str(cell) for cell in value.to_numpy().ravel() if isinstance(cell, str))


def _strings(message: Message) -> Iterator[str]:
    for field, held in message.ListFields():
        if field.name == "columns" and isinstance(held, str):  # of a table: its heads
            yield from re.findall(r'"label": ?"((?:[^"\\]|\\.)*)"', held)
        elif field.name in UNSEEN:
            continue
        else:
            yield from _texts(held)


def _texts(held: Any) -> Iterator[str]:
    if isinstance(held, str):
        yield held
    elif isinstance(held, Message):
        yield from _strings(held)
    elif hasattr(held, "__iter__") and not isinstance(held, bytes):
        for one in held:
            yield from _texts(one)
