"""What axe-core finds on a page: rules of WCAG 2 at levels A and AA, contrast included.

`axe.min.js` is the npm package axe-core 4.14.1 as it is, under the Mozilla Public License 2.0 (`axe.LICENSE`).
"""

from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

FILE = Path(__file__).parent / "axe.min.js"
TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice")
SEVERE = ("serious", "critical")

OF_STREAMLIT: dict[str, tuple[str, str]] = {}
"""What Streamlit's own widgets do and nothing of ours can change: a part of the element's address, with the rule and the reason."""


@cache
def _program() -> str:
    return FILE.read_text(encoding="utf-8")


def violations(page: Page) -> list[str]:
    """Serious and critical violations on a page as it stands: rule, what is wrong, and the element."""
    page.evaluate(_program())
    options = {"runOnly": list(TAGS), "resultTypes": ["violations"]}
    found: list[dict[str, Any]] = page.evaluate(
        "options => axe.run(document, options).then(result => result.violations)", options
    )
    return [
        f"{rule['id']}: {node['failureSummary']} -- {node['html'][:300]}"
        for rule in found
        if rule["impact"] in SEVERE
        for node in rule["nodes"]
        if not any(part in node["html"] and rule["id"] == name for part, (name, _) in OF_STREAMLIT.items())
    ]
