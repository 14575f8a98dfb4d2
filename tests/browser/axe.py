"""What axe-core finds on a page: rules of WCAG 2 at levels A and AA, contrast included.

`axe.min.js` is the npm package axe-core 4.14.1 as it is, under the Mozilla Public License 2.0 (`axe.LICENSE`).
"""

from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Page

FILE = Path(__file__).parent / "axe.min.js"
TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice")
OF_COLOURS = ("color-contrast", "link-in-text-block")
"""The rules by which a page can fail in one theme and hold in the other."""
SEVERE = ("serious", "critical")


def violations(page: Page, rules: Sequence[str] = TAGS) -> list[str]:
    """Serious and critical violations on a page as it stands: rule, what is wrong, and the element.

    Args:
        rules: those that are tried, by their tags or by their names.
    """
    if not page.evaluate("'axe' in window"):  # once on each page, whatever its theme
        page.evaluate(FILE.read_text(encoding="utf-8"))
    asked = {"runOnly": list(rules), "resultTypes": ["violations"]}
    found = page.evaluate("asked => axe.run(document, asked).then(result => result.violations)", asked)
    return [
        f"{rule['id']}: {node['failureSummary']} -- {node['html'][:300]}"
        for rule in found
        if rule["impact"] in SEVERE
        for node in rule["nodes"]
    ]
