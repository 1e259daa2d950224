"""What the tooltip of a context's row says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.document import CaptureDocument
from inspector.protocol.times import NO_TIME
from inspector.ui.formats import clock, count_of
from inspector.ui.wire_text import plain, tool_tip

if TYPE_CHECKING:
    from inspector.ui.panels.contexts.model import ContextTreeModel


def tooltip(document: CaptureDocument, model: ContextTreeModel, row: int) -> str:
    """What a row leaves out: path, id, own count, last activity, state and why it counts as reasoning."""
    return tool_tip("\n".join(line for line in _lines(document, model, row) if line))


def _lines(document: CaptureDocument, model: ContextTreeModel, row: int) -> list[str]:
    node, total = model.node(row), model.count(row)
    if node is None:
        return [f"{count_of(total, 'message')} in this space", f"Space: {model.label(row)}"]
    contexts, tree = document.analysis.contexts, document.analysis.contexts.tree
    if node < 0:
        last = model.activity.main_last_ns.get(model.space(row), NO_TIME)
        return [f"{count_of(total, 'message')} without a context", _state(model.state(row), last)]
    own = tree.own[node]
    lines = [f"{count_of(own, 'message')} here" + (f", {total:,} with those below" if total != own else "")]
    lines.append(_state(model.state(row), contexts.last_ns[node]))
    lines += [contexts.type_reason(node), contexts.note(node)]
    if tree.label[node]:
        lines.append(f"Asked: {model.label(row)}")
    lines.append(f"Path: {plain(tree.path(node))}")
    if tree.label[node] or "/" in tree.name[node]:
        lines.append(f"Id: {plain(tree.name[node])}")
    return lines


def _state(state: str, last_ns: int) -> str:
    when = f", last message at {clock(last_ns)}" if last_ns != NO_TIME else ""
    return f"{state.capitalize()}{when}"
