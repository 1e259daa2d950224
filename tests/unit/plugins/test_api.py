"""The API of plug-ins is what its page describes, and examples use nothing else of this program."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from inspector import plugin
from tests.pages import ROOT
from tests.plugins import EXAMPLES


def test_the_page_names_all_of_it() -> None:
    page = (ROOT / "docs" / "plug-ins.md").read_text(encoding="utf-8")
    table = page.partition("### All of the API")[2].partition("## Bounds")[0]
    assert sorted(re.findall(r"`(\w+)`", table)) == sorted(plugin.__all__)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_examples_import_nothing_else(path: Path) -> None:
    imported = {
        node.module
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
    }
    assert {one for one in imported if one is not None and one.startswith("inspector")} == {"inspector.plugin"}
