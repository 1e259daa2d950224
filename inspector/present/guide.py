"""Pages of the guide: order, titles, links and pictures, and a search over them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from inspector.base.paths import guide_folder

CONTENTS = "contents"
"""Name of the page that lists the others."""

_CONTENTS_FILE = "docs/README.md"
_PARTS = ("docs/", "SECURITY.md")
"""Beginnings of the paths that belong to the guide; others are in the checkout only."""
_MARKDOWN_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]*)\)")
_GROUP = re.compile(r"^([A-Z][a-z ]+):(?: |$)", re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#{1,6} +(.+)$", re.MULTILINE)
_OUTSIDE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


class Page(NamedTuple):
    """One page of the guide.

    Attributes:
        name: how commands and links of the program name it, such as `first-steps`.
        file: its path below the guide's folder.
        title: its first heading.
        group: heading of its part of the contents; empty for the first part.
    """

    name: str
    file: str
    title: str
    group: str


class Place(NamedTuple):
    """A page, and a heading in it; `anchor` is empty for the top of the page."""

    page: Page
    anchor: str


@cache
def pages() -> tuple[Page, ...]:
    """Returns all pages in the order of the contents.

    Raises:
        FileNotFoundError: the guide is not installed.
        OSError: a page cannot be read.
    """
    contents = _read(_CONTENTS_FILE)
    found = {_CONTENTS_FILE: Page(CONTENTS, _CONTENTS_FILE, _title(contents), "")}
    group, place = "", 0
    for link in _MARKDOWN_LINK.finditer(contents):
        for heading in _GROUP.finditer(contents, place, link.start()):
            group = heading[1]
        place = link.start()
        file = _file_of(_CONTENTS_FILE, link[2].partition("#")[0])
        if file is not None and file not in found and file.startswith(_PARTS) and (guide_folder() / file).is_file():
            found[file] = Page(Path(file).stem.lower(), file, _title(_read(file)), group)
    return tuple(found.values())


def page_named(name: str) -> Page | None:
    """Returns the page of this name, of this file or of this title, if any."""
    wanted = name.strip().lower()
    for page in pages():
        if wanted in (page.name, Path(page.file).name.lower(), page.title.lower()):
            return page
    return None


def text_of(page: Page) -> str:
    """Returns the Markdown of a page.

    Raises:
        OSError: it cannot be read.
    """
    return _read(page.file)


def place_of(page: Page, link: str) -> Place | None:
    """Returns the place in the guide that a link of a page leads to, or None if it leads out of the guide."""
    target, _, anchor = link.partition("#")
    if not target:
        return Place(page, anchor)
    file = _file_of(page.file, target)
    return next((Place(one, anchor) for one in pages() if one.file == file), None)


def picture_of(page: Page, link: str) -> Path | None:
    """Returns the file of a picture that a page shows, or None if it is no picture of the guide."""
    file = _file_of(page.file, link)
    if file is None or not file.endswith(".png"):
        return None
    path = guide_folder() / file
    return path if path.is_file() else None


def anchor_of(heading: str) -> str:
    """Returns the anchor of a heading, as Git hosts write it."""
    return re.sub(r"[^\w\- ]", "", without_links(heading).strip().lower()).replace(" ", "-")


def without_links(text: str) -> str:
    """Returns Markdown with each link replaced by its words."""
    return _MARKDOWN_LINK.sub(r"\1", text)


def search(words: str) -> list[tuple[Page, int]]:
    """Returns the pages that hold all words, with the number of places; titles count first.

    Raises:
        OSError: a page cannot be read.
    """
    wanted = words.casefold().split()
    found: list[tuple[Page, int]] = []
    for page in pages():
        text = f"{page.title}\n{without_links(text_of(page))}".casefold()
        counts = [text.count(word) for word in wanted]
        if wanted and all(counts):
            found.append((page, min(counts)))
    return sorted(found, key=lambda one: (not any(word in one[0].title.casefold() for word in wanted), -one[1]))


@cache
def _read(file: str) -> str:
    return (guide_folder() / file).read_text("utf-8")


def _title(text: str) -> str:
    heading = _HEADING.search(_FENCED.sub("", text))
    return without_links(heading[1]).replace("`", "").strip() if heading else ""


def _file_of(page_file: str, link: str) -> str | None:
    """Returns the path of a linked file below the guide's folder; None for an address, or a path outside."""
    if not link or _OUTSIDE.match(link) or link.startswith(("/", "\\")):
        return None
    parts = list(Path(page_file).parent.parts)
    for part in link.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
