"""Who somebody in a space is: since when, what it may do, was refused, offers and waits for.

The window and the command line read the same story. It joins the passes with the gateway's decisions beside a log, so
that where our reading of a capability and the gateway's verdict differ, both are there (docs/protocols.md 12).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inspector.analysis.passes.participants.capabilities import Change, Held, Refusal
from inspector.analysis.passes.participants.participant_pass import Participant
from inspector.analysis.views.latency.latency import Latency, latency_of
from inspector.analysis.views.latency.offered_tools import OfferedTools, ToolUse, offered_tools, server_words, tool_use
from inspector.analysis.views.summaries.participant_queries import (
    Tool,
    kinds_of,
    sent_by,
    sent_to,
    tools_offered,
    waiting,
)
from inspector.document.document import CaptureDocument

MOST_JUDGED = 200
"""Latest messages of somebody whose verdicts are looked at: each is decoded and judged."""
_MOST_REFUSALS = 1_000


@dataclass(frozen=True, slots=True)
class Judged:
    """Whether a message might be sent: as we predict it from what was announced, and as the gateway decided.

    Attributes:
        predicted: allowed or denied; None where it cannot be said.
        by: the capability that covers it; None.
        verdicts: the gateway's decisions about it, as logged.
    """

    predicted: str | None
    by: object
    verdicts: tuple[Mapping[str, Any], ...]

    @property
    def results(self) -> tuple[str, ...]:
        """What the gateway decided: allowed, denied."""
        return tuple(str(one["result"]) for one in self.verdicts if one.get("result") in ("allowed", "denied"))

    @property
    def differs(self) -> bool:
        """Both are known and not the same; then the gateway matches otherwise than is specified."""
        return self.predicted is not None and any(result != self.predicted for result in self.results)


@dataclass(frozen=True, slots=True)
class Refused:
    """Something a gateway did not let through.

    Attributes:
        row: the gateway's error.
        message: what it is about, where that was seen; a gateway forwards and logs nothing that it refuses.
        missing: the capability that was missing; None when neither error nor decision says.
        judged: our prediction, from its kind alone where the message was not seen, and the gateway's verdicts.
    """

    row: int
    message: int | None
    missing: str | None
    judged: Judged


@dataclass(frozen=True, slots=True)
class ParticipantStory:
    """All that is known of a participant.

    Attributes:
        participant: as the pass keeps it.
        first, last: its first and last message; None when it sent none.
        kinds: how many messages it sent, by canonical kind, most frequent first.
        held: what it may do; None when nothing was ever said of it.
        changes: what was announced, granted and revoked, in order.
        revoked: revocations since the last set that was announced.
        refused: what it was refused, in order.
        judged_count: its messages with a verdict, among the last 200 messages.
        differing: (message, judged) of those whose verdict is not what we predict.
        tools: what it offers; None when it was never asked, or has not answered.
        server: what it calls itself as a server of MCP, and the revision; "".
        offered: what its lists say of them; None as for `tools`.
        tool_use: how often its tools were called, by name, the most called first.
        latency: what its answers took, by tool.
        answered: what all its answers took; None when it answered nothing.
        asks, asked: messages that wait, ascending: sent by it, and addressed to it by name.
    """

    participant: Participant
    first: int | None
    last: int | None
    kinds: Mapping[str, int]
    held: list[Held] | None
    changes: list[Change]
    revoked: list[Change]
    refused: list[Refused]
    judged_count: int
    differing: list[tuple[int, Judged]]
    tools: list[Tool] | None
    server: str
    offered: OfferedTools | None
    tool_use: Mapping[str, ToolUse]
    latency: Mapping[str, Latency]
    answered: Latency | None
    asks: list[int]
    asked: list[int]


def story_of(
    document: CaptureDocument, space: int, name: str, *, most_refused: int = _MOST_REFUSALS
) -> ParticipantStory | None:
    """What is known of somebody; None when nobody of that name was seen in the space. O(messages) of array work.

    Args:
        space: string id.
        most_refused: how many refusals are read, the last ones.
    """
    analysis = document.analysis
    participant = analysis.participants.all.get((space, name))
    if participant is None:
        return None
    sent, capabilities = sent_by(analysis, space, name), analysis.capabilities
    latency, answered = latency_of(analysis, sent)
    asked = sent_to(analysis, space, name)
    judged = _judged_lately(document, sent[-MOST_JUDGED:].tolist())
    return ParticipantStory(
        participant=participant,
        first=int(sent[0]) if len(sent) else None,
        last=int(sent[-1]) if len(sent) else None,
        kinds=kinds_of(analysis, sent),
        held=capabilities.held(space, name),
        changes=list(capabilities.changes.get((space, name), ())),
        revoked=capabilities.revoked(space, name),
        refused=[_refused(document, space, name, one) for one in capabilities.refusals(space, name, most_refused)],
        judged_count=len(judged),
        differing=[(row, one) for row, one in judged if one.differs],
        tools=tools_offered(analysis, sent),
        server=server_words(analysis, sent),
        offered=offered_tools(analysis, sent),
        tool_use=tool_use(analysis, sent, asked),
        latency=latency,
        answered=answered,
        asks=waiting(analysis, sent).tolist(),
        asked=waiting(analysis, asked).tolist(),
    )


def judge(document: CaptureDocument, message: int) -> Judged:
    """Whether the sender of a message might send it."""
    predicted, by = document.analysis.capabilities.predicted(message)
    return Judged(_word(predicted), by, tuple(document.decisions.about(message)))


def refusal_of(document: CaptureDocument, error: int) -> Refused | None:
    """What a gateway's error refused, and whether it had to; None for an error of another sort, or to nobody."""
    to = document.capture.to(error)
    refusal = document.analysis.capabilities.refusal(error)
    space = int(document.capture.columns["space"][error])
    return _refused(document, space, to[0], refusal) if to and refusal is not None else None


def _word(predicted: bool | None) -> str | None:
    return None if predicted is None else "allowed" if predicted else "denied"


def _judged_lately(document: CaptureDocument, rows: list[int]) -> list[tuple[int, Judged]]:
    if document.decisions.found is None:
        return []
    judged = ((row, judge(document, row)) for row in rows)
    return [(row, one) for row, one in judged if one.results]


def _refused(document: CaptureDocument, space: int, name: str, refusal: Refusal) -> Refused:
    verdicts = tuple(document.decisions.about_refusal(refusal.row))
    required = next((one["required_capability"] for one in verdicts if "required_capability" in one), None)
    missing = refusal.attempted or (required if isinstance(required, str) else None)
    if refusal.message is not None:
        predicted, by = document.analysis.capabilities.predicted(refusal.message)
    else:
        by, ask = None, document.analysis.capabilities.predicted_kind
        predicted = None if missing is None else ask(space, name, missing, refusal.row)
    return Refused(refusal.row, refusal.message, missing, Judged(_word(predicted), by, verdicts))
