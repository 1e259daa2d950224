"""Tooltips of the context tree, and findings in words."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.analysis.findings.by_context import Tally
from inspector.analysis.findings.naming_problems import NamingProblem, naming_problems
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.contexts.node_facts import CANCELLED
from inspector.document.conclusions import conclusion_row
from inspector.document.document import CaptureDocument
from inspector.present.context_codes import is_root, is_source, place_of
from inspector.present.formats import clock, count_of, message_number
from inspector.present.sources import shared_by_source
from inspector.present.sub_agent_facts import usage_facts
from inspector.present.subject import text_of
from inspector.present.wire_text import excerpt, safe_line
from inspector.protocol.context_places import PLACE_EXPLANATIONS
from inspector.protocol.msp import SUBSESSION_TYPE
from inspector.protocol.timestamps import NO_TIME

_CONCLUSION_LENGTH = 200
"""Characters of a conclusion in a tooltip."""


@dataclass(frozen=True, slots=True)
class TipFigures:
    """Figures of a row for its tooltip.

    Attributes:
        label, count, tally, state: as in the row; the state also of a context without messages of its own.
        tokens: tokens of its subtree; None if they are not shown.
        main_last_ns: time of the last message in the space's main context.
        is_session: its space is a session with a label or title.
        shares: a source has messages in spaces of another one.
    """

    label: str
    count: int
    tokens: int | None
    tally: Tally
    state: str
    main_last_ns: int | None
    is_session: bool
    shares: bool


def tip_lines(document: CaptureDocument, code: int, space: int, figures: TipFigures) -> list[str]:
    """Returns a row's lines: path, id, own count, last activity, state, findings and irregularities.

    Args:
        document: the document.
        code: the row.
        space: string id of its space.
        figures: its figures.
    """
    total, found = count_of(figures.count, "message"), tally_words(figures.tally)
    if is_source(code):
        return _source_lines(document, place_of(code), figures)
    if is_root(code):
        if not figures.is_session:
            return [f"{total} in this space", found, f"Space: {figures.label}"]
        name = safe_line(document.capture.strings[space] or "none")
        return [f"{total} in this session", found, f"Session: {figures.label}", f"Id: {name}"]
    if code < 0:
        last = NO_TIME if figures.main_last_ns is None else figures.main_last_ns
        used = [f"{one.name}: {one.value}" for one in usage_facts(document.analysis, space, MAIN)]
        return [f"{total} without a context", _state(figures.state, last), *used, found]
    return _context_lines(document, code, figures)


def _context_lines(document: CaptureDocument, node: int, figures: TipFigures) -> list[str]:
    contexts, tree = document.analysis.contexts, document.analysis.contexts.tree
    own, total, found = tree.own[node], figures.count, tally_words(figures.tally)
    lines = [f"{count_of(own, 'message')} here" + (f", {total:,} including nested contexts" if total != own else "")]
    if figures.tokens is not None:
        lines.append(f"{count_of(figures.tokens, 'token')}, estimate, including nested contexts")
    lines.append(_state(figures.state, contexts.last_ns[node]))
    lines += [f"{one.name}: {one.value}" for one in usage_facts(document.analysis, tree.space[node], node)]
    if found:
        lines.append(f"{found}, here and below" if tree.children.any(node) else found)
    lines += [contexts.type_reason(node), contexts.note(node)]
    if (told := contexts.first_context_place(node)) in PLACE_EXPLANATIONS:
        lines.append(f"Declared by {PLACE_EXPLANATIONS[told]}")
    lines += [f"Irregular: {odd_words(odd)}" for odd in naming_problems(contexts, node)]
    if tree.label[node]:
        lines.append(f"{'Sub-session' if contexts.type(node) == SUBSESSION_TYPE else 'Asked'}: {figures.label}")
    if (ended := conclusion_row(document.analysis, node)) >= 0:
        said = excerpt(text_of(document.capture, ended), _CONCLUSION_LENGTH)
        word = "Cancelled" if contexts.facts.end[node] == CANCELLED else "Concluded"
        lines.append(f"{word} in No. {ended + 1}{f': {said}' if said else ''}")
    lines.append(f"Path: {safe_line(tree.path(node))}")
    if tree.label[node] or "/" in tree.name[node]:
        lines.append(f"Id: {safe_line(tree.name[node])}")
    return lines


def _source_lines(document: CaptureDocument, source: int, figures: TipFigures) -> list[str]:
    """Returns the lines of a source: its messages, and the ones shared with other sources."""
    shared = shared_by_source(document)[source]
    return [
        f"{count_of(figures.count, 'message')} read from this source, {figures.state}",
        f"{count_of(shared, 'message')} shared with another source; each counts where it was read" * (shared > 0),
        "Spaces that began in another source are listed there" * figures.shares,
        tally_words(figures.tally),
        f"Source: {safe_line(str(document.capture.sources[source].path))}",
    ]


def tally_words(tally: Tally, *, notes: bool = True) -> str:
    """Returns findings in words: "2 messages with a problem: 1 error, 2 warnings"; "" for no finding."""
    counts = [(tally.errors, "error"), (tally.warnings, "warning"), (tally.notes if notes else 0, "note")]
    found = ", ".join(count_of(count, word) for count, word in counts if count)
    return f"{count_of(tally.problems, 'message')} with a problem: {found}" if tally.problems else found


def naming_words(odd: NamingProblem) -> str:
    """Returns an irregularity in words: "malformed context path"."""
    return f"{odd.check.title[:1].lower()}{odd.check.title[1:]}"


def odd_words(odd: NamingProblem) -> str:
    """Returns an irregularity and its first message: "malformed context path, No. 12"."""
    again = f" and {odd.times - 1:,} more" if odd.times > 1 else ""
    return f"{naming_words(odd)}, {message_number(odd.row)}{again}"


def _state(state: str, last_ns: int) -> str:
    when = f", last message at {clock(last_ns)}" if last_ns != NO_TIME else ""
    return f"{state.capitalize()}{when}"
