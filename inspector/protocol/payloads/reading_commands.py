"""Recognizes shell commands that only read or search, by the names of their programs. Anything unclear is refused."""

from __future__ import annotations

import re
from typing import Literal

Sort = Literal["read", "search", ""]

MAX_COMMAND = 2_000
"""Limit of a recognized command in characters."""

_PIECE = re.compile(
    r"(?P<blank>[ \t]+|\\\n)|(?P<between>&&|\|\||[|;\n])|(?P<quiet>[12&]?>{1,2}[ \t]*/dev/null|2>&1)|"
    r"(?P<word>(?:'[^']*'|\"(?:[^\"\\$`]|\\.|\$[A-Za-z_])*\"|\\[^\n]|\$[A-Za-z_]|[^\s'\"\\|&;<>()$`])+)"
)
_QUOTES = re.compile(r"'([^']*)'|\"((?:[^\"\\]|\\.)*)\"")
_READS = frozenset((
    "cat", "head", "tail", "wc", "nl", "ls", "dir", "pwd", "stat", "tree", "du", "df", "which", "type", "echo",
    "printf", "true", "cd", "cut", "sort", "tr", "column", "jq", "diff", "cmp", "printenv", "whoami", "id", "uname",
    "basename", "dirname", "realpath", "readlink", "md5sum", "sha256sum", "strings", "test", "[", "rev", "tac", "fold",
    "get-content", "get-childitem", "gci", "get-location", "test-path",
))  # fmt: skip
_SEARCHES = frozenset(("grep", "egrep", "fgrep", "rg", "ag", "ack", "fd", "find", "select-string", "findstr"))
_NEVER = {
    "tree": ("-o",), "rg": ("--pre",), "fd": ("--exec",), "diff": ("--output",), "sort": ("--o",),
    "find": ("-exec", "-ok", "-delete", "-fprint", "-fls"), "ag": ("--pager",), "ack": ("--pager",),
}  # fmt: skip
"""Beginnings of options with which a program may change something."""
_NEVER_AMONG = {"sort": "o", "tree": "o", "fd": "xX"}
"""Letters with the same effect, which may stand among others behind one dash."""
_GIT_READS = frozenset((
    "status", "log", "diff", "show", "blame", "ls-files", "ls-tree", "rev-parse", "describe", "shortlog", "cat-file",
    "rev-list", "merge-base", "name-rev",
))  # fmt: skip
_GIT_LISTS = frozenset(("branch", "remote", "tag", "stash"))
"""Subcommands that list something if they have no other words than these."""
_LISTING = frozenset(("list", "-v", "-vv", "-a", "-r", "--list", "--all", "--show-current"))
_GIT_PLACE = frozenset(("-C", "--git-dir", "--work-tree"))
_SED_PRINTS = re.compile(r"(?:\d+|\$)?(?:,(?:\d+|\$))?p(?:;(?:\d+|\$)?(?:,(?:\d+|\$))?p)*")


def sort_of_command(command: str) -> Sort:
    """Returns "search" or "read" for a command whose programs all only search or read; else ""."""
    if len(command) > MAX_COMMAND:
        return ""
    words, found = list[str](), set[Sort]()
    place, text = 0, command.strip()
    while place < len(text):
        piece = _PIECE.match(text, place)
        if piece is None:
            return ""
        place = piece.end()
        if piece.lastgroup == "word":
            words.append(_QUOTES.sub(lambda quoted: quoted[1] or quoted[2] or "", piece[0]))
        elif piece.lastgroup == "between" and words:
            found.add(_sort_of_words(words))
            words = []
    found.add(_sort_of_words(words) if words else "read")
    return "" if "" in found else "search" if "search" in found else "read"


def _sort_of_words(words: list[str]) -> Sort:
    program, options = words[0].rsplit("/", 1)[-1].lower(), words[1:]
    never = _NEVER.get(program, ())
    letters = _NEVER_AMONG.get(program, "")
    for word in options:
        clusters = word[:1] == "-" != word[1:2]
        if (never and word.startswith(never)) or (clusters and any(one in word for one in letters)):
            return ""
    if program in _SEARCHES:
        return "search"
    if program in _READS:
        return "read"
    if program == "git":
        return _sort_of_git(options)
    if program == "uniq":  # writes to its second file
        return "read" if all(word.startswith("-") for word in options) else ""
    if program == "sed":
        prints = len(options) >= 2 and options[0] == "-n" and _SED_PRINTS.fullmatch(options[1]) is not None
        return "read" if prints and not any(word.startswith("-") for word in options[2:]) else ""
    return ""


def _sort_of_git(words: list[str]) -> Sort:
    while words and words[0].startswith("-"):
        if words[0] not in (*_GIT_PLACE, "--no-pager"):
            return ""
        words = words[2 if words[0] in _GIT_PLACE else 1 :]
    if not words or any(word.startswith(("--output", "-O", "--ext-diff", "--open-files")) for word in words):
        return ""
    if words[0] == "grep":
        return "search"
    if words[0] in _GIT_READS:
        return "read"
    # Without words, `git stash` puts changes away.
    lists = words[0] in _GIT_LISTS and _LISTING.issuperset(words[1:]) and (words[0] != "stash" or len(words) > 1)
    return "read" if lists else ""
