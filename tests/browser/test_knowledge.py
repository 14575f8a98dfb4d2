"""The knowledge base as a newcomer meets it: browse, search, import, and undo what was learned."""

import json
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.site import Site
from tests.browser.test_hearing import settled, sound

PARTS = {
    "Precedents of disputes": "Similar precedents are looked up",
    "Statutes": "An unofficial digest of the Criminal Law",
    "Charges": "The list of charges",
    "Criminal precedents": "Referred precedents with their judgments",
    "Standards": "Verified trajectories",
    "Micro-directives": "Precise rules",
    "Learning": "Steps of learning",
}


def precedent(number: int) -> str:
    judgment = {"relevant_articles": [264], "accusation": ["theft"], "term_of_imprisonment": {"imprisonment": number}}
    return json.dumps({"fact": f"The defendant took zither{number} out of the museum at night.", "meta": judgment})


def test_a_file_is_imported_a_statute_found_and_every_part_sound(site: Site, page: Page, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    field = page.get_by_label("Search by matter")
    good.write_text("\n".join(map(precedent, range(1, 31))))
    bad.write_text(precedent(1) + "\nnot json\n")
    page.goto(f"{site.url}/knowledge?part=cases")
    page.get_by_test_id("stExpander").filter(has_text="Import").first.locator("summary").click()
    chooser = page.locator('input[type="file"]')
    chooser.set_input_files(bad)
    page.get_by_role("button", name="Check and import").click()
    expect(page.get_by_text("bad.jsonl, line 2: it is not valid JSON", exact=False)).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Remove bad.jsonl").click()
    expect(page.get_by_role("button", name="Check and import")).to_be_disabled()
    chooser.set_input_files(good)
    page.get_by_role("button", name="Check and import").click()
    expect(page.get_by_text("all 30 records are in", exact=False)).to_be_visible(timeout=120_000)
    settled(page)
    sound(page)
    expect(page.get_by_text("Imported from good.jsonl", exact=False)).to_be_visible()
    field.fill("zither7")
    field.press("Enter")
    expect(page.get_by_test_id("stExpander").filter(has_text="zither7").first).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 1600})
    for title, told in PARTS.items():
        page.get_by_role("radio", name=title, exact=True).click()
        expect(page.get_by_text(told, exact=False).first).to_be_visible()
        settled(page)
        sound(page)
        if title == "Statutes":
            field.fill("a wallet stolen by a pickpocket on a bus")
            field.press("Enter")
            page.get_by_text("Article 264").first.click()
            expect(page.get_by_text("Charges: ", exact=False).first).to_be_visible()
            settled(page)
            sound(page)
