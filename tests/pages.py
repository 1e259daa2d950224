"""The Markdown pages of the project, for tests that compare them with the program."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]
_PLACES = ("*.md", "docs/**/*.md", "packaging/*.md", "tests/**/*.md", "inspector/formats/*/README.md")
PAGES = sorted(page for place in _PLACES for page in ROOT.glob(place))
GUIDE = [page for page in PAGES if page.parent == ROOT / "docs" or page == ROOT / "README.md"]
"""What is written for users: README and docs/."""

_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"")


def name_of(page: Path) -> str:
    """The page's path from the root."""
    return page.relative_to(ROOT).as_posix()


def links(page: Path) -> Iterator[str]:
    """What a page links to, pictures included; not what stands in code."""
    text = re.sub(r"`[^`\n]*`", "", _FENCED.sub("", page.read_text(encoding="utf-8")))
    for markdown, html in _LINK.findall(text):
        yield markdown or html


def anchors(page: Path) -> set[str]:
    """The anchors that a Git host makes of a page's headings."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ +(.+)$", _FENCED.sub("", page.read_text(encoding="utf-8")), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        number = 1
        while anchor in found:
            anchor, number = f"{anchor.removesuffix(f'-{number - 1}')}-{number}", number + 1
        found.add(anchor)
    return found


def script(path: str) -> ModuleType:
    """A script that belongs to no package, as a module."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
