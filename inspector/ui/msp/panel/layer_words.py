"""What the indicator says of a merged context: its layers, what is worth knowing, the order it is sent in. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspector.msp.inherited import covered_words
from inspector.msp.objects import Message, Snapshot
from inspector.present import formats
from inspector.present.wire_text import plain

if TYPE_CHECKING:
    from inspector.msp.merged import Entry, Layer, MergedContext, Remark, Rules

LEFT_OUT = "left out by the policy"
LENIENT = "include_main_only"
"""Name of the rule that lets main_only messages in."""
_WARNINGS = ("covered_again", "include_misplaced")

SWITCHES: dict[str, tuple[str, str]] = {
    LENIENT: ("Let them in", "Keep them out"),
    "include_misplaced": ("Let them in", "Keep them out"),
    "sibling_globals": ("Send them", "Leave them out"),
    "ancestor_globals": ("Send them", "Leave them out"),
    "covered_again": ("Send them again", "Send them once"),
    "before_opening": ("Leave them out", "Send newer ones"),
}
"""What the link at a sentence about a rule says: where the rule is off, and where it is on."""


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence with its switch.

    Attributes:
        rule: that changes it; "" for none.
        link: what turning that rule about is called; "" for none.
    """

    text: str
    warns: bool = False
    rule: str = ""
    link: str = ""


def share_words(tokens: int, total: int) -> str:
    """A share of the whole: "46 %"; "" where there is nothing."""
    if not total or not tokens:
        return ""
    return "<1 %" if 200 * tokens < total else f"{round(100 * tokens / total)} %"


def layer_words(merged: MergedContext, layer: Layer) -> str:
    """What is in a layer, in a few words."""
    if not layer.included and layer.name in ("sub_context", "snapshots"):
        return f"{LEFT_OUT}, {layer.left_out:,} tokens" if layer.left_out else LEFT_OUT
    if layer.name == "snapshots" and layer.entries:
        return _snapshot_words(merged, layer)
    return plain(layer.what, 200)


def _snapshot_words(merged: MergedContext, layer: Layer) -> str:
    session = merged.subsession.session
    words = f"{len(layer.entries):,} of {len(session.snapshots) if session is not None else 0:,}"
    covered = [covered_words(one.source, merged.rules) for one in layer.entries if isinstance(one.source, Snapshot)]
    if len(covered) == 1 and covered[0]:
        return f"{words}, covers {covered[0]}"
    spans = [one.source.covers for one in layer.entries if isinstance(one.source, Snapshot) and one.source.covers]
    if not spans:
        return words
    last = max(stop for _, stop in spans) + (0 if merged.rules.half_open else 1)
    return f"{words}, cover messages {min(start for start, _ in spans) + 1:,} to {last:,}"


def notes_of(merged: MergedContext, main_only: int) -> list[Note]:
    """What is worth knowing, with what can be done about it.

    Args:
        merged: what would be sent.
        main_only: messages of the parent that are withheld for that.
    """
    notes = [_note(merged, remark, main_only) for remark in merged.remarks]
    older = sum(entry.older_global for entry in merged.layer("recent").entries)
    if older:
        words = "message is" if older == 1 else "messages are"
        text = f"{older:,} global parent {words} older than the recent ones and sent all the same."
        notes.append(Note(text, rule="older_globals", link="Leave it out" if older == 1 else "Leave them out"))
    return notes


def _note(merged: MergedContext, remark: Remark, main_only: int) -> Note:
    rule, text = remark.rule or "", plain(remark.text, 300)
    is_on = bool(getattr(merged.rules, rule)) if rule else False
    kept = main_only if rule == LENIENT else 0
    recent = sum(not entry.older_global for entry in merged.layer("recent").entries)
    if kept and recent and not is_on:
        text = f"{formats.count_of(kept, 'parent message')} {'is' if kept == 1 else 'are'} main_only and "
        text += "stays." if kept == 1 else "stay."
    link = SWITCHES[rule][is_on] if rule in SWITCHES else ""
    if text.startswith(("1 ", "Message ")) or "(1 withheld" in text:
        link = link.replace(" them", " it")
    return Note(text, rule in _WARNINGS and not (rule == "covered_again" and not is_on), rule, link)


def order_words(entry: Entry, rules: Rules) -> str:
    """An entry of the order it is sent in, on one line: "intent: weekly sensor report", "human: use the March data"."""
    source = entry.source
    if isinstance(source, Message):
        return f"{plain(entry.role, 40) or 'no role'}: {plain(entry.content, 160) or 'empty'}"
    if isinstance(source, Snapshot):
        words = covered_words(source, rules)
        return f"summary of {words}" if words else "summary"
    return f"intent: {plain(source.intent, 160)}" if source.intent else plain(entry.content, 160)
