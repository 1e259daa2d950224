"""Translates Python regular expressions to RE2 (DuckDB's) if the meaning is the same.

Named classes are translated, since they cover all Unicode in Python and ASCII in RE2. `$` is translated, since Python
allows a final line end after it. Constructs that RE2 lacks, or interprets differently, are refused.
"""

from __future__ import annotations

import re

_WORD, _DIGIT, _SPACE = r"\p{L}\p{N}_", r"\p{Nd}", r"\t-\r\x1c-\x20\x{85}\p{Z}"
_CLASSES = {"w": _WORD, "d": _DIGIT, "s": _SPACE}
# Other escapes, such as `\b`, mean ASCII in RE2, or are missing there.
_ESCAPED = frozenset("\\.^$*+?{}[]()|/-\"' #&~=<>!@%,;:_`")
_TOKEN = re.compile(
    r"""(?P<class>\[(?:\\.|[^\]\\])(?:\\.|[^\]\\])*\])
      | (?P<escape>\\.)
      | (?P<group>\((?:\?:)?(?!\?))
      | (?P<repeat>(?:[*+?]|\{\d{1,3}(?:,\d{0,3})?\})\??(?![*+?{]))
      | (?P<plain>[^\\\[\](){}*+?])""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_IGNORE_CASE = "(?i)"


class ForeignPatternError(ValueError):
    """An expression without an RE2 form; the text is a sentence."""


def to_re2(pattern: str) -> str:
    """Returns a valid Python expression in RE2 syntax.

    Raises:
        ForeignPatternError: if RE2 has no equal form.
    """
    flag = _IGNORE_CASE if pattern.startswith(_IGNORE_CASE) else ""
    at, written = len(flag), list[str]()
    while at < len(pattern):
        # A surplus bracket is copied: the pattern is valid, so it closes a group.
        if pattern[at] == ")":
            written.append(")")
            at += 1
            continue
        token = _TOKEN.match(pattern, at)
        if token is None:
            raise ForeignPatternError(f"SQL has no expression with {pattern[at : at + 3]} in it.")
        written.append(_in_re2(token))
        at = token.end()
    return flag + "".join(written)


def _in_re2(token: re.Match[str]) -> str:
    text, kind = token[0], token.lastgroup
    if kind == "class":
        return _class(text)
    if kind == "escape":
        letter = text[1]
        if letter.lower() in _CLASSES:
            return f"[{'^' if letter.isupper() else ''}{_CLASSES[letter.lower()]}]"
        return _escaped(text)
    # In Python a dollar sign also matches before a final line end.
    return r"(?:\n?\z)" if text == "$" else text


def _class(text: str) -> str:
    inner = text[1:-1]
    sign, inner = ("^", inner[1:]) if inner.startswith("^") else ("", inner)
    # Python and RE2 disagree about these.
    if not inner or "[" in inner.replace("\\[", "") or "&&" in inner or "--" in inner:
        raise ForeignPatternError(f"SQL has no class {text}.")
    return f"[{sign}{_ESCAPE.sub(_in_class, inner)}]"


def _in_class(found: re.Match[str]) -> str:
    return _CLASSES[found[0][1]] if found[0][1] in _CLASSES else _escaped(found[0])


def _escaped(text: str) -> str:
    if text[1] not in _ESCAPED and text not in (r"\n", r"\t", r"\r"):
        raise ForeignPatternError(f"SQL has no expression with {text} in it.")
    return text if text[1] not in " #&~=<>!@%,;:_`\"'/" else text[1]
