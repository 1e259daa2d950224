"""Source code as stretches: by the language of a file's name, in places of the text as it is shown."""

from __future__ import annotations

import pytest

from inspector.present.code import LANGUAGES, language_of, stretches_of, without_numbers


@pytest.mark.parametrize(
    ("path", "language"),
    [("src/a.py", "python"), (r"C:\x\a.TSX", "typescript"), ("Dockerfile", "bash"), ("notes", None), ("a.b.exe", None)],
)
def test_a_language_is_told_by_the_name(path: str, language: str | None) -> None:
    assert language_of(path) == language


def test_every_language_has_a_lexer() -> None:
    for language in LANGUAGES:
        list(stretches_of("a = 1\n", language))
    assert [(one.start, one.stop, one.sort) for one in stretches_of('x = "a"  # b', "python")] == [
        (4, 5, "string"), (5, 6, "string"), (6, 7, "string"), (9, 12, "comment"),
    ]  # fmt: skip


def test_a_text_of_a_machine_is_left_plain() -> None:
    assert list(stretches_of("x" * 5_000, "python")) == []


def test_numbers_before_lines_are_told_apart() -> None:
    assert without_numbers("     1→import a\n     2→b\n\nnote") == ("import a\nb\n\nnote", [7, 7, 0, 0])
    assert without_numbers("1\tone\n2\ttwo") == ("one\ntwo", [2, 2])
    assert without_numbers("import a\n     2→b") is None
    assert without_numbers("     1→a\nb\nc") is None
