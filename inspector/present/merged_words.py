"""Texts of a merged context: descriptions of its layers, notes with switches, and entries in the order sent."""

from __future__ import annotations

import msgspec

from inspector.msp import Entry, Layer, MergedContext, Message, Remark, Rules, Snapshot, Subsession, covered_words
from inspector.present import formats
from inspector.present.msp_words import label_of
from inspector.present.wire_text import safe_line

LEFT_OUT = "excluded by the policy"
LENIENT = "include_main_only"
"""Name of the rule that admits main_only messages."""
_WARNINGS = ("covered_again", "include_misplaced")

SWITCHES: dict[str, tuple[str, str]] = {
    LENIENT: ("Include them", "Exclude them"),
    "include_misplaced": ("Include them", "Exclude them"),
    "sibling_globals": ("Include them", "Exclude them"),
    "ancestor_globals": ("Include them", "Exclude them"),
    "covered_again": ("Send them again", "Send them once"),
    "before_opening": ("Exclude them", "Include newer ones"),
}
"""Link labels of notes about a rule: while the rule is off, and while it is on."""


class Note(msgspec.Struct, frozen=True):
    """A sentence with its switch.

    Attributes:
        rule: the rule it switches, or "".
        link: label of the switch, or "".
    """

    text: str
    warns: bool = False
    rule: str = ""
    link: str = ""


def share_words(tokens: int, total: int) -> str:
    """Formats a share: "46 %"; "" for zero."""
    if not total or not tokens:
        return ""
    # Below half a percent, rounding would show 0 %.
    return "<1 %" if 200 * tokens < total else f"{round(100 * tokens / total)} %"


def layer_words(merged: MergedContext, layer: Layer) -> str:
    """Returns a short description of a layer."""
    if not layer.included and layer.name in ("sub_context", "snapshots"):
        return f"{LEFT_OUT}, {layer.left_out:,} tokens" if layer.left_out else LEFT_OUT
    if layer.name == "snapshots" and layer.entries:
        return _snapshot_words(merged, layer)
    return safe_line(layer.what, 200)


def _snapshot_words(merged: MergedContext, layer: Layer) -> str:
    session = merged.subsession.session
    there = len(session.snapshots) if session is not None else 0
    own = sum(isinstance(one.source, Snapshot) for one in layer.entries)
    words = f"{own:,} of {there:,}"
    if others := len(layer.entries) - own:
        beside = f"{formats.count_of(others, 'summary', 'summaries')} of siblings"
        return f"{words}, and {beside}" if there else beside
    covered = [covered_words(one.source, merged.rules) for one in layer.entries if isinstance(one.source, Snapshot)]
    if len(covered) == 1 and covered[0]:
        return f"{words}, covers {covered[0]}"
    spans = [one.source.covers for one in layer.entries if isinstance(one.source, Snapshot) and one.source.covers]
    if not spans:
        return words
    last = max(stop for _, stop in spans) + (0 if merged.rules.half_open else 1)
    return f"{words}, cover messages {min(start for start, _ in spans) + 1:,} to {last:,}"


def notes_of(merged: MergedContext) -> list[Note]:
    """Returns notes about a merged context, with their switches."""
    notes = [_note(merged, remark) for remark in merged.remarks]
    older = sum(entry.older_global for entry in merged.layer("recent").entries)
    if older:
        words = "message is" if older == 1 else "messages are"
        text = f"{older:,} global parent {words} older than the recent ones and still sent."
        notes.append(Note(text, rule="older_globals", link="Exclude it" if older == 1 else "Exclude them"))
    return notes


def _note(merged: MergedContext, remark: Remark) -> Note:
    rule, text = remark.rule or "", safe_line(remark.text, 300)
    is_on = bool(getattr(merged.rules, rule)) if rule else False
    withheld = merged.main_only if rule == LENIENT else 0
    recent = sum(not entry.older_global for entry in merged.layer("recent").entries)
    if withheld and recent and not is_on:
        text = (
            f"{formats.count_of(withheld, 'parent message')} {'is' if withheld == 1 else 'are'} main_only and not sent."
        )
    link = SWITCHES[rule][is_on] if rule in SWITCHES else ""
    if text.startswith(("1 ", "Message ")) or "(1 withheld" in text:
        link = link.replace(" them", " it")
    return Note(text, rule in _WARNINGS and not (rule == "covered_again" and not is_on), rule, link)


def order_words(entry: Entry, rules: Rules) -> str:
    """Returns an entry of the sent order on one line: "intent: weekly sensor report", "human: use the March data"."""
    source = entry.source
    if isinstance(source, Message):
        return f"{safe_line(entry.role, 40) or 'no role'}: {safe_line(entry.content, 160) or 'empty'}"
    if isinstance(source, Snapshot):
        words = covered_words(source, rules)
        return f"summary of {words}" if words else "summary"
    if isinstance(source, Subsession):
        return f"summary of {label_of(source)}"
    return f"intent: {safe_line(source.intent, 160)}" if source.intent else safe_line(entry.content, 160)
