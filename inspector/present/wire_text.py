"""Text from the wire made safe to show: on one line, with what cannot be seen made visible, and secrets masked.

Whatever a label, a row, a tooltip or a screen reader gets goes through `plain`, `one_line`, `tool_tip` or `masked`.
Excerpts of what somebody wrote go through `excerpt` or `excerpt_line`, which leave out marks of Markdown. All of them
mask, so that no caller has to. `visible_controls` and `pieces` do not: Raw shows secrets where the user asks.

Control and bidi characters can reorder, hide or fake what a row says; ESC sequences do so in terminals. They are never
dropped: where text is plain they become `⟨U+202E⟩`, where a delegate paints they become chips (`pieces`). Joiners are
left alone, because emoji and several scripts need them. Nothing here, nor anything that shows its results, guesses
rich text.
"""

from __future__ import annotations

import html
import re
import string
from functools import lru_cache

from inspector.protocol.payloads.markdown_text import plain_words
from inspector.protocol.secrets.masking import MASK, mask_text

MAX_LINE = 500
"""Characters of a line."""
_READ = 4 * MAX_LINE  # blanks fold, so more than a line is looked at

_SHORT = 512  # characters of what comes again and again: names, paths, labels
_TOKEN = f"{string.ascii_letters}{string.digits}-_."  # characters of a web token
_CUT_PASSWORD = re.compile(r"(://[^/\s:@\"']{1,128}:)[^/\s@\"']{0,256}\Z")

_BLANKS = re.compile(r"[^\S\x1c-\x1f]+")
_HIDDEN = (
    r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e"
    r"\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f"
)
_HIDDEN_ONE, _HIDDEN_ONES = re.compile(f"[{_HIDDEN}]"), re.compile(f"[{_HIDDEN}]+")
_CHIP = re.compile(rf"\x1b\[[0-9;?]{{0,20}}[A-Za-z]|[{_HIDDEN}]")


def masked(text: str, shown: int) -> str:
    """Text with secrets masked; of a long one the beginning, several times what is shown of it.

    Args:
        text: of the wire.
        shown: characters that are shown of it at most.
    """
    room = max(_READ, 4 * shown)
    if len(text) <= _SHORT:
        return _masked_short(text)
    if len(text) <= room:
        return mask_text(text)
    return mask_text(_without_half(text[:room]))


@lru_cache(maxsize=4096)
def _masked_short(text: str) -> str:
    return mask_text(text)


def _without_half(head: str) -> str:
    """The beginning of a text without half a secret at its end, which nothing would know as one."""
    before = head.rstrip(_TOKEN)
    place = head.find("eyJ", len(before))
    if place >= 0:
        return head[:place] + MASK
    return head[:-512] + _CUT_PASSWORD.sub(lambda found: found[1] + MASK, head[-512:])


def one_line(text: str, limit: int = MAX_LINE) -> str:
    """Text for one row: blanks and line ends folded into single spaces, none at either end, at most `limit` characters.

    Secrets are masked. The last character is … where text was left out. Control characters stay, for
    `visible_controls` or `pieces`.
    """
    folded = _BLANKS.sub(" ", masked(text, limit)).strip(" ")
    if len(folded) <= limit and len(text) <= max(_READ, 4 * limit):
        return folded
    return folded[: limit - 1] + "…"


def excerpt_line(text: str, limit: int = MAX_LINE) -> str:
    """Returns the words of a text on one line, as `one_line` does, without marks of Markdown."""
    seen = masked(text, limit)
    words = plain_words(seen)
    if words == seen:
        return one_line(text, limit)
    # Masked again: marks may have cut a secret in two.
    folded = _BLANKS.sub(" ", mask_text(words)).strip(" ")
    is_whole = len(folded) <= limit and len(text) <= max(_READ, 4 * limit)
    return folded if is_whole else folded[: limit - 1] + "…"


def excerpt(text: str, limit: int = MAX_LINE) -> str:
    """Returns the words of a text on one safe line, without marks of Markdown."""
    return visible_controls(excerpt_line(text, limit))


def has_hidden(text: str) -> bool:
    """Whether the text holds characters that `visible_controls` would change."""
    return not text.isprintable() and _HIDDEN_ONE.search(text) is not None


def visible_controls(text: str) -> str:
    """The text with control and bidi characters written out: `⟨U+202E⟩`. Tabs, line ends and secrets stay."""
    return _HIDDEN_ONES.sub(_named, text) if has_hidden(text) else text


def _named(match: re.Match[str]) -> str:
    return "".join(map(_written_out, match[0]))


@lru_cache(1024)
def _written_out(character: str) -> str:
    return f"⟨{code_point(character)}⟩"


def code_point(character: str) -> str:
    """A character's name by number: "U+202E"."""
    return f"U+{ord(character):04X}"


def pieces(text: str) -> list[tuple[str, bool]]:
    """The text cut into (text, is a chip); a chip's text says what the character is: "U+202E", "ESC[31m"."""
    found: list[tuple[str, bool]] = []
    done = 0
    for match in _CHIP.finditer(text):
        if match.start() > done:
            found.append((text[done : match.start()], False))
        hidden = match[0]
        found.append((f"ESC{hidden[1:]}" if len(hidden) > 1 else code_point(hidden), True))
        done = match.end()
    if done < len(text) or not found:
        found.append((text[done:], False))
    return found


def plain(text: str, limit: int = MAX_LINE) -> str:
    """One safe line, masked: what a label, a menu or a screen reader gets."""
    return visible_controls(one_line(text, limit))


def window_title(name: str, mark: str = "") -> str:
    """The title of a window on something that has a name.

    Args:
        name: of a file or a session, whoever gave it.
        mark: "[*]" where Qt is to show whether it is saved; in the name that is text, which Qt has one write twice.
    """
    return f"{plain(name).replace('[*]', '[*][*]')}{mark} — Context Inspector"


def tool_tip(text: str, limit: int = 2_000) -> str:
    """A tooltip that shows the text as it is but for its secrets, wrapped.

    Qt guesses rich text in tooltips and has no switch against it, so that the text is escaped and marked as such.
    """
    if not text:
        return ""
    safe = masked(text, limit)
    is_whole = len(text) <= max(_READ, 4 * limit) and len(safe) <= limit
    shown = visible_controls(safe if is_whole else safe[: limit - 1] + "…")
    return f'<p style="white-space: pre-wrap">{html.escape(shown)}</p>'
