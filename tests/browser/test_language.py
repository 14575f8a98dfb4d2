"""The language of the interface in a real browser: the browser's own, then the one that is chosen, which a link keeps."""

from playwright.sync_api import Browser, expect


def test_a_chinese_browser_reads_chinese_until_another_language_is_chosen(app: str, browser: Browser) -> None:
    chinese = browser.new_context(locale="zh-CN", viewport={"width": 1280, "height": 900})
    page = chinese.new_page()
    page.goto(app)
    expect(page.get_by_role("button", name="审理此案").first).to_be_visible()
    expect(page.get_by_role("link", name="知识库")).to_be_visible()
    page.get_by_role("button", name="English", exact=True).click()
    expect(page.get_by_role("button", name="Hear this case").first).to_be_visible()
    page.get_by_role("link", name="Runs", exact=True).click()
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    page.wait_for_url("**lang=en**")
    link = page.url
    page.close()

    again = chinese.new_page()
    again.goto(link)
    expect(again.get_by_role("heading", name="Runs")).to_be_visible()
    expect(again.get_by_role("button", name="中文", exact=True)).to_be_visible()
    again.goto(f"{app}/runs")  # nothing in the address: what was picked stays
    expect(again.get_by_role("heading", name="Runs")).to_be_visible()
    again.reload()
    expect(again.get_by_role("heading", name="Runs")).to_be_visible()
    chinese.close()
