"""Rewrites objects on a console of JavaScript to JSON, value by value."""

from __future__ import annotations

import re

from inspector.protocol.tolerant_encoder import to_json

_STRING = rb"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\"|`(?:[^`\\]|\\.)*+`"
_TOKEN = re.compile(
    rb"(?P<text>(?:%(string)s)(?:\s*\+\s*(?:%(string)s))*+)"
    rb"|(?P<key>[A-Za-z_$][\w$]*+)(?=:)"
    rb"|(?P<number>(?<![\w.])-?\d[\d.]*+(?:e[+-]?\d++)?)n?(?=\s*[,\]}\n])"
    rb"|(?P<word>true|false|null)(?=\s*[,\]}\n])"
    rb"|(?P<mark>(?:,\s*+)?\.\.\. \d++ more \w++)"
    rb"|(?P<other>\[[A-Z][\w ]*+(?:\([\w ]*+\))?[\w ]*+\]|[A-Za-z_<][^,\n{}\[\]]*+)" % {b"string": _STRING},
    re.DOTALL,
)
_PART = re.compile(_STRING, re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v"}
_BEGINS = re.compile(rb"\s*\{\s*(?:resource: \{|traceId: '|instrumentationScope: \{)")


def begins_with_object(head: bytes) -> bool:
    """Returns True for the first bytes of a span on a console of JavaScript."""
    return _BEGINS.match(head) is not None


def as_json(text: bytes) -> bytes:
    """Returns the text with each value as JSON; values that were not shown become texts, as "[Object]"."""
    return _TOKEN.sub(_rewritten, text)


def _rewritten(found: re.Match[bytes]) -> bytes:
    token = found[0]
    match found.lastgroup:
        case "text":
            return to_json("".join(_plain(part.decode("utf-8", "replace")[1:-1]) for part in _PART.findall(token)))
        case "number":
            return found["number"]
        case "word":
            return token
        case "mark":
            return b""
        case _:
            return b"null" if token.strip() == b"undefined" else to_json(token.decode("utf-8", "replace").strip())


def _plain(text: str) -> str:
    return _ESCAPE.sub(_letter, text)


def _letter(found: re.Match[str]) -> str:
    code = found[1] or found[2]
    return chr(int(code, 16)) if code else _LETTERS.get(found[3], found[3])
