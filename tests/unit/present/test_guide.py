"""Pages of the guide: order, names, links, pictures and search."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from inspector.base.paths import guide_folder
from inspector.cli import app
from inspector.present.guide import CONTENTS, Place, page_named, pages, picture_of, place_of, search, text_of
from tests.pages import GUIDE, ROOT, anchors, links


def test_every_page_has_a_name_of_its_own_and_a_title() -> None:
    found = pages()
    assert found[0].name == CONTENTS
    assert len({page.name for page in found}) == len(found)
    assert all(page.title for page in found)
    files = {ROOT / page.file for page in found}
    assert files == {*(page for page in GUIDE if page.parent.name == "docs"), ROOT / "SECURITY.md"}
    assert guide_folder() == ROOT, "a checkout reads its own pages"


def test_links_within_the_guide_lead_to_a_heading_and_pictures_to_a_file() -> None:
    followed = shown = 0
    for page in pages():
        for link in links(ROOT / page.file):
            if link.endswith(".png"):
                shown += 1
                assert picture_of(page, link) is not None, f"{page.file}: {link}"
                continue
            place = place_of(page, link)
            if place is not None:
                followed += 1
                assert not place.anchor or place.anchor in anchors(ROOT / place.page.file), f"{page.file}: {link}"
    assert followed > 100
    assert shown > 20


@pytest.mark.parametrize(
    "link", ["../CONTRIBUTING.md", "../../etc/passwd", "/etc/passwd", "https://example.com/tap.md", "file:///etc/passwd",
             "nowhere.md", "../inspector/cli/tap.py"],
)  # fmt: skip
def test_a_link_out_of_the_guide_leads_nowhere(link: str) -> None:
    page = pages()[0]
    assert place_of(page, link) is None
    assert picture_of(page, link) is None


def test_a_picture_outside_the_guide_is_not_read() -> None:
    assert picture_of(pages()[0], "../../x.png") is None
    assert picture_of(pages()[0], "https://example.com/x.png") is None


def test_a_page_is_found_by_name_file_and_title() -> None:
    tap = page_named("tap")
    assert tap is not None
    assert tap == page_named("TAP.md") == page_named("Tap an MCP server")
    assert place_of(tap, "#x") == Place(tap, "x")
    assert page_named("nothing like it") is None


def test_search_finds_pages_with_all_words_titles_first() -> None:
    found = [page.name for page, _ in search("waste")]
    assert found[0] == "waste"
    assert len(found) > 2
    both = search("tap uninstall")
    assert both
    assert all({"tap", "uninstall"} <= set(_words(text_of(page))) for page, _ in both)
    assert search("qqqqqq") == []
    assert search("  ") == []


def _words(text: str) -> list[str]:
    return [word for word in ("tap", "uninstall") if word in text.casefold()]


def test_the_command_lists_pages_and_prints_one() -> None:
    listed = CliRunner().invoke(app, ["guide"])
    assert listed.exit_code == 0
    assert all(page.name in listed.output for page in pages())
    printed = CliRunner().invoke(app, ["guide", "tap"])
    assert printed.output.strip() == (ROOT / "docs/tap.md").read_text("utf-8").strip()
    wrong = CliRunner().invoke(app, ["guide", "cost"])
    assert wrong.exit_code == 2
    assert "no page cost. These pages mention it: " in wrong.output
