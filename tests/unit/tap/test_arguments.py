"""The quick look at the command line, which the whole parser must agree with."""

from __future__ import annotations

import pytest

from inspector.tap.arguments import TapArguments, quick_arguments


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ("-o a -- server -o b", TapArguments("a", ("server", "-o", "b"))),
        ("--output=a --append --open server --open", TapArguments("a", ("server", "--open"), True, True)),
        ("--output a -- -odd", TapArguments("a", ("-odd",))),
        ("-o a", None),
        ("-- server", None),
        ("-o a --help server", None),
        ("-o", None),
    ],
)
def test_words(words: str, asked: TapArguments | None) -> None:
    assert quick_arguments(words.split(" ")) == asked
