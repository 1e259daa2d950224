"""Tests of `packaging/words_lint.py`."""

from __future__ import annotations

from pathlib import Path

import pytest
import words_lint  # pyright: ignore[reportMissingImports]

PLAIN = '"""Reads lines."""\n\n\ndef read_lines() -> None:\n    """Returns the lines, or None if there are none."""\n'
VAGUE = '"""What is read."""\n\n\nclass Reader:\n    """Which lines."""\n\n    def tell(self) -> None: ...\n'


def figures_of(*sources: str) -> words_lint.Figures:
    figures = words_lint.Figures()
    for number, source in enumerate(sources):
        words_lint.read_module(f"m{number}.py", source, figures)
    return figures


def test_openings_are_counted_by_sort() -> None:
    values = figures_of(PLAIN, VAGUE).values()
    assert (values["modules"], values["classes"], values["functions"]) == (50, 100, 0)


def test_vague_words_are_counted_per_10_000_words() -> None:
    values = figures_of(PLAIN).values()  # 11 words, of which "none" twice
    assert (values["none"], values["what"]) == (pytest.approx(1e4 * 2 / 11), 0)


def test_a_name_of_one_everyday_word_is_listed_unless_it_is_an_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    assert figures_of(VAGUE).names == ["m0.py:tell"]
    monkeypatch.setitem(words_lint.EXCEPTIONS, "m0.py:tell", "a test")
    assert figures_of(VAGUE).names == []


def test_a_place_is_given_for_each_opening() -> None:
    assert figures_of(VAGUE).openings == ["m0.py:1", "m0.py:4"]


def test_a_name_in_a_docstring_or_comment_that_nothing_has_is_listed() -> None:
    other = "class Store:\n    def __init__(self):\n        self.rows = MOST_ROWS = 1\n"
    mentions = (
        '"""Reads with `read_rows` up to MOST_ROWS, GONE_ROWS of `Store.rows`, as `json.loads` does."""\n'
        "x = row = 1  # `gone_row` is here, `row` and `read` are not: `a name` is none\n"
        'def read_rows(read): return "# `gone_text`"\n'
    )
    assert figures_of(mentions, other).unknown == ["m0.py:1: MOST_ROWS", "m0.py:1: GONE_ROWS", "m0.py:2: gone_row"]
    assert figures_of(mentions + "MOST_ROWS = 1\n", other).unknown == ["m0.py:1: GONE_ROWS", "m0.py:2: gone_row"]


@pytest.mark.parametrize("mark", ["noqa: F401", "type: ignore[arg-type]", "pyright: ignore[reportPrivateUsage]"])
def test_an_ignored_rule_has_its_reason_beside_it(mark: str) -> None:
    reasons = f"import a  # {mark} - loads b\nimport c  # {mark}  # {mark} - the stubs lack it\n"
    assert figures_of(reasons).silenced == []
    assert figures_of(reasons, f"import a\nimport b  # {mark}\n").silenced == ["m1.py:2"]


def test_a_spelling_that_the_glossary_has_otherwise_is_listed() -> None:
    figures = words_lint.Figures()
    words_lint.read_page("page.md", "A Time-out of 5 s.", figures)
    assert figures.spellings == ["page.md: time-out"]


def test_a_figure_above_its_bound_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    figures = figures_of(VAGUE)
    monkeypatch.setattr(words_lint, "BOUNDS", dict.fromkeys(figures.values(), 1e9))
    assert words_lint.above_bounds(figures) == []
    words_lint.BOUNDS["classes"] = 99
    assert words_lint.above_bounds(figures) == ["classes"]


def test_a_tree_is_read_with_its_pages(tmp_path: Path) -> None:
    (tmp_path / "inspector").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "inspector" / "m.py").write_text(VAGUE)
    (tmp_path / "docs" / "page.md").write_text("A call-back.")
    figures = words_lint.read_tree(tmp_path)
    assert (figures.docstrings["modules"], figures.spellings) == (1, ["docs/page.md: call-back"])


def test_exceptions_have_reasons_and_stay_few() -> None:
    assert len(words_lint.EXCEPTIONS) < 20
    assert all(words_lint.EXCEPTIONS.values())
