"""Tests of `packaging/format_names_lint.py`."""

from __future__ import annotations

import format_names_lint  # pyright: ignore[reportMissingImports]
import pytest

from tests.pages import ROOT
from tests.unit.formats import conformance


def test_files_outside_the_folder_are_listed() -> None:
    sources = {
        "inspector/formats/codex/reader.py": "Codex",
        "inspector/formats/otlp/reader.py": "spans of Codex",
        "inspector/formats/table.py": "codex.FORMAT, acp.FORMAT",
        "inspector/ui/panel.py": 'if name == "codex":',
        "inspector/ui/other.py": "pacpop, bacp, open code, decode",
        "inspector/ui/third.py": "acp_lines, VS Code",
        "inspector/ui/fourth.py": "from inspector.formats import mcp, mew  # a wrapped line of a capture",
        "inspector/ui/fifth.py": "from inspector.formats.wrapped.reader import slice_origin",
    }
    named = format_names_lint.naming_files(sources)
    assert named["codex"] == ["inspector/formats/otlp/reader.py", "inspector/ui/panel.py"]
    assert named["acp"] == named["vscode_chat"] == ["inspector/ui/third.py"]
    assert named["opencode"] == named["a2a"] == named["capture"] == []
    assert named["mcp"] == named["mew"] == ["inspector/ui/fourth.py"]
    assert named["wrapped"] == ["inspector/ui/fifth.py"]


def test_a_figure_above_its_bound_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(format_names_lint, "BOUNDS", {"codex": 1})
    assert format_names_lint.above_bounds({"codex": ["a"], "acp": []}) == []
    assert format_names_lint.above_bounds({"codex": ["a", "b"], "acp": ["a"]}) == ["codex", "acp"]


def test_this_checkout_is_within_its_bounds() -> None:
    named = format_names_lint.naming_files(format_names_lint.read_sources(ROOT))
    assert format_names_lint.above_bounds(named) == []
    assert named.keys() == format_names_lint.BOUNDS.keys() <= {folder.name for folder in conformance.folders()}
