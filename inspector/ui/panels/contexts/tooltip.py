"""What the tooltip of a context's row says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.analysis.findings.by_context import Tally
from inspector.analysis.findings.oddities import Odd, oddities_of
from inspector.document.document import CaptureDocument
from inspector.present.formats import clock, count_of, message_number
from inspector.present.wire_text import plain, tool_tip
from inspector.protocol.msp import SUBSESSION_TYPE
from inspector.protocol.times import NO_TIME

if TYPE_CHECKING:
    from inspector.ui.panels.contexts.model import ContextTreeModel


def tooltip(document: CaptureDocument, model: ContextTreeModel, row: int) -> str:
    """What a row leaves out: path, id, own count, last activity, state, findings, and what is odd about it."""
    lines = [model.note(row).comment, *_lines(document, model, row)]
    return tool_tip("\n".join(line for line in lines if line))


def _lines(document: CaptureDocument, model: ContextTreeModel, row: int) -> list[str]:
    node, total = model.node(row), model.count(row)
    if node is None:
        found = tally_words(model.tally(row))
        if model.space(row) not in document.analysis.contexts.sessions.labels:
            return [f"{count_of(total, 'message')} in this space", found, f"Space: {model.label(row)}"]
        name = plain(document.capture.strings[model.space(row)] or "none")
        return [f"{count_of(total, 'message')} in this session", found, f"Session: {model.label(row)}", f"Id: {name}"]
    contexts, tree = document.analysis.contexts, document.analysis.contexts.tree
    if node < 0:
        last = model.activity.main_last_ns.get(model.space(row), NO_TIME)
        found = tally_words(model.tally(row))
        return [f"{count_of(total, 'message')} without a context", _state(model.state(row), last), found]
    own = tree.own[node]
    lines = [f"{count_of(own, 'message')} here" + (f", {total:,} with those below" if total != own else "")]
    if model.tokens.shown:
        lines.append(f"{count_of(model.token_count(row), 'token')}, estimate, with those below")
    lines.append(_state(model.state(row), contexts.last_ns[node]))
    found = tally_words(model.tally(row))
    if found:
        lines.append(f"{found}, here and below" if model.has_children(row) else found)
    lines += [contexts.type_reason(node), contexts.note(node)]
    lines += [f"Odd: {odd_words(odd)}" for odd in oddities_of(contexts, node)]
    if tree.label[node]:
        is_session = contexts.type(node) == SUBSESSION_TYPE
        lines.append(f"{'Sub-session' if is_session else 'Asked'}: {model.label(row)}")
    lines.append(f"Path: {plain(tree.path(node))}")
    if tree.label[node] or "/" in tree.name[node]:
        lines.append(f"Id: {plain(tree.name[node])}")
    return lines


def tally_words(tally: Tally, *, notes: bool = True) -> str:
    """Findings in words: "2 messages with a problem: 1 error, 2 warnings"; "" where there are none."""
    counts = [(tally.errors, "error"), (tally.warnings, "warning"), (tally.notes if notes else 0, "note")]
    found = ", ".join(count_of(count, word) for count, word in counts if count)
    return f"{count_of(tally.problems, 'message')} with a problem: {found}" if tally.problems else found


def odd_words(odd: Odd) -> str:
    """What is odd about a context, and which message showed it first: "malformed context path, No. 12"."""
    again = f" and {odd.times - 1:,} more" if odd.times > 1 else ""
    return f"{odd.check.title[:1].lower()}{odd.check.title[1:]}, {message_number(odd.row)}{again}"


def _state(state: str, last_ns: int) -> str:
    when = f", last message at {clock(last_ns)}" if last_ns != NO_TIME else ""
    return f"{state.capitalize()}{when}"
