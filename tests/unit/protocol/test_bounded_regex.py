"""What is taken means what Python's own expressions mean, but for classes of ASCII, and nothing takes long."""

from __future__ import annotations

import re
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.bounded_regex import MAX_TEXT_LENGTH, RegexRefusedError, search_pattern

_parts = st.sampled_from((*"ab.*+?|()^$", "(?:", "[ab]", "[^a]", "[a-b]", r"\d", r"\W", "{2}", "{0,1}"))


@given(st.lists(_parts, max_size=8).map("".join), st.text("ab1/", max_size=8))
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_it_finds_what_re_finds(pattern: str, text: str) -> None:
    try:
        expected = re.search(pattern, text) is not None
        found = search_pattern(pattern, text)
    except (re.error, RegexRefusedError):
        return
    assert found is expected


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"^tools/(list|call)$", "tools/call", True), (r"^tools/(list|call)$", "tools/calls", False),
        (r"read_\w{4}", "x read_file", True), ("a{2,3}b", "ab", False), ("a{2,3}b", "aaaab", True), ("", "x", True),
        (r"\.py$", "a.py", True), (r"\.py$", "a_py", False), ("[]x]", "]", True), ("[a-]", "-", True),
    ],
)  # fmt: skip
def test_samples(pattern: str, text: str, found: bool) -> None:
    assert search_pattern(pattern, text) is found


@pytest.mark.parametrize("pattern", ["(a", "a)", r"(a)\1", "(?=a)", "*a", "[a", "a" * 201, "(a{99}){99}", "\\"])
def test_what_is_refused(pattern: str) -> None:
    with pytest.raises(RegexRefusedError):
        search_pattern(pattern, "aaa")


@pytest.mark.parametrize("pattern", ["(a*)*(a*)*b", "(a|aa)+$b", "(?:a|a|.){60}c"])
def test_hostile_patterns_end(pattern: str) -> None:
    started = time.thread_time()
    with suppress(RegexRefusedError):
        search_pattern(pattern, "a" * MAX_TEXT_LENGTH)
    assert time.thread_time() - started < 20
    with pytest.raises(RegexRefusedError):
        search_pattern("a", "b" * (MAX_TEXT_LENGTH + 1))
