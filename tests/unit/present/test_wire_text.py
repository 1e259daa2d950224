"""Hostile text made safe to show."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.present import wire_text

OVERRIDE = "\u202e"


def test_blanks_fold_into_single_spaces() -> None:
    assert wire_text.one_line("  a\r\n\tb\u00a0\u2028 c \n") == "a b c"


def test_a_long_line_is_cut_and_says_so() -> None:
    assert wire_text.one_line("x" * 501) == "x" * 499 + "…"
    assert wire_text.one_line("x" * 500) == "x" * 500


def test_a_huge_text_of_blanks_is_cheap_and_cut() -> None:
    assert wire_text.one_line(" " * 10_000_000 + "end") == "…"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"a{OVERRIDE}b", "a⟨U+202E⟩b"),
        ("\x1b[31m", "⟨U+001B⟩[31m"),
        ("\x00\x7f\x85", "⟨U+0000⟩⟨U+007F⟩⟨U+0085⟩"),
        ("\u200b\ufeff\u2066", "⟨U+200B⟩⟨U+FEFF⟩⟨U+2066⟩"),
        ("\ud800", "⟨U+D800⟩"),
        ("\U000e0041", "⟨U+E0041⟩"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("👩\u200d💻 عربى", "👩\u200d💻 عربى"),
    ],
)
def test_what_cannot_be_seen_is_written_out(text: str, shown: str) -> None:
    assert wire_text.visible_controls(text) == shown
    assert wire_text.has_hidden(text) == (text != shown)


def test_chips_keep_the_text_around_them() -> None:
    assert wire_text.split_chips(f"a{OVERRIDE}b\x1b[31mred") == [
        ("a", False), ("U+202E", True), ("b", False), ("ESC[31m", True), ("red", False),
    ]  # fmt: skip
    assert wire_text.split_chips("") == [("", False)]


@given(st.text())
def test_a_safe_line_never_hides_anything(text: str) -> None:
    line = wire_text.safe_line(text)
    assert "\n" not in line
    assert not wire_text.has_hidden(line)
    assert not any(wire_text.has_hidden(piece) for piece, _ in wire_text.split_chips(wire_text.one_line(text)))


@given(st.text())
def test_a_line_is_no_longer_than_its_limit(text: str) -> None:
    assert len(wire_text.one_line(text, 20)) <= 20


def test_a_tooltip_shows_markup_as_text() -> None:
    tip = wire_text.tool_tip("<b>bold</b><img src='http://x'>")
    assert "<b>" not in tip
    assert "<img" not in tip
    assert "&lt;b&gt;bold" in tip
    assert wire_text.tool_tip("") == ""


def test_the_title_of_a_window_is_one_plain_line() -> None:
    assert wire_text.window_title("a.jsonl", "[*]") == "a.jsonl[*] — Context Inspector"
    assert wire_text.window_title("a[*].jsonl") == "a[*][*].jsonl — Context Inspector"
    shown = wire_text.window_title("gnp.\u202etxt\n\x1b[2J")
    assert shown.isprintable()
    assert not {"\u202e", "\n", "\x1b"} & set(shown)
