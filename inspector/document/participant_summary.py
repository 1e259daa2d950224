"""The story of a participant (presence, capabilities, refusals, tools, waits); permission of a message.

The window and the command line share it. It joins the passes with the gateway's decisions, so both our reading of
capabilities and a differing verdict are visible (docs/protocols.md 12).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inspector.analysis.passes.participants.capabilities import CapabilityChange, HeldCapability, Refusal
from inspector.analysis.passes.participants.participant_pass import Participant
from inspector.analysis.views.latency.latency import Latency, latency_of
from inspector.analysis.views.latency.server_tools import OfferedTools, ToolUse, offered_tools, server_words, tool_use
from inspector.analysis.views.summaries.participant_queries import (
    Tool,
    kinds_of,
    messages_from,
    messages_to,
    tools_offered,
    waiting_messages,
)
from inspector.base.slices import SlicedWork, run_to_end
from inspector.document.document import CaptureDocument

MOST_JUDGED = 200
"""Limit of latest messages with verdicts checked; each is decoded and judged."""
_MOST_REFUSALS = 1_000


@dataclass(frozen=True, slots=True)
class Permission:
    """Permission of a message: our prediction from announcements, and the gateway's decision.

    Attributes:
        predicted: allowed or denied, if known.
        by: the covering capability, if any.
        verdicts: the gateway's decisions, as logged.
    """

    predicted: str | None
    by: object
    verdicts: tuple[Mapping[str, Any], ...]

    @property
    def results(self) -> tuple[str, ...]:
        """Results of the gateway: allowed, denied."""
        return tuple(str(one["result"]) for one in self.verdicts if one.get("result") in ("allowed", "denied"))

    @property
    def differs(self) -> bool:
        """Returns True if both are known and differ, so the gateway deviates from the specification."""
        return self.predicted is not None and any(result != self.predicted for result in self.results)


@dataclass(frozen=True, slots=True)
class Refused:
    """A message that a gateway refused.

    Attributes:
        row: the gateway's error.
        message: the refused message, if captured; a gateway neither forwards nor logs it.
        missing: the missing capability, if error or decision names it.
        judged: our prediction, from the kind alone without the message, and the gateway's verdicts.
    """

    row: int
    message: int | None
    missing: str | None
    judged: Permission


@dataclass(frozen=True, slots=True)
class ParticipantStory:
    """Facts about a participant.

    Attributes:
        participant: state in the pass.
        first, last: first and last message, if any.
        kinds: number of messages by canonical kind, most frequent first.
        held: its capabilities, if announced.
        changes: announcements, grants and revocations, in order.
        revoked: revocations since the last announcement.
        refused: refusals, in order.
        judged_count: number of messages with a verdict among the last 200.
        differing: (message, judged) for verdicts that differ from our prediction.
        tools: offered tools, if ever listed.
        server: name and revision as an MCP server; "".
        offered: facts from its lists, if ever listed.
        tool_use: calls by tool, most called first.
        latency: latency by tool.
        answered: latency of all its answers, if any.
        asks, asked: waiting messages, ascending: sent by it, and addressed to it by name.
    """

    participant: Participant
    first: int | None
    last: int | None
    kinds: Mapping[str, int]
    held: list[HeldCapability] | None
    changes: list[CapabilityChange]
    revoked: list[CapabilityChange]
    refused: list[Refused]
    judged_count: int
    differing: list[tuple[int, Permission]]
    tools: list[Tool] | None
    server: str
    offered: OfferedTools | None
    tool_use: Mapping[str, ToolUse]
    latency: Mapping[str, Latency]
    answered: Latency | None
    asks: list[int]
    asked: list[int]


def story_of(document: CaptureDocument, space: int, name: str) -> ParticipantStory | None:
    """Returns the story of a participant; None if it is not in the space."""
    return run_to_end(story_steps(document, space, name))


def story_steps(
    document: CaptureDocument, space: int, name: str, *, most_refused: int = _MOST_REFUSALS
) -> SlicedWork[ParticipantStory | None]:
    """Returns the story of a participant in steps; None if it is not in the space. O(messages) of array work.

    Args:
        document: the document.
        space: string id.
        name: name of the participant.
        most_refused: limit of refusals, latest first.
    """
    analysis = document.analysis
    participant = analysis.participants.all.get((space, name))
    if participant is None:
        return None
    sent, capabilities = messages_from(analysis, space, name), analysis.capabilities
    yield
    latency, answered = latency_of(analysis, sent)
    yield
    asked = messages_to(analysis, space, name)
    yield
    offered, calls = offered_tools(analysis, sent), tool_use(analysis, sent, asked)
    yield
    # Each verdict decodes a message, so only the latest ones are judged.
    judged = _judged_lately(document, sent[-MOST_JUDGED:].tolist())
    yield
    refused = [_refusal_story(document, space, name, one) for one in capabilities.refusals(space, name, most_refused)]
    yield
    return ParticipantStory(
        participant=participant,
        first=int(sent[0]) if len(sent) else None,
        last=int(sent[-1]) if len(sent) else None,
        kinds=kinds_of(analysis, sent),
        held=capabilities.capabilities_of(space, name),
        changes=list(capabilities.changes.get((space, name), ())),
        revoked=capabilities.revoked(space, name),
        refused=refused,
        judged_count=len(judged),
        differing=[(row, one) for row, one in judged if one.differs],
        tools=tools_offered(analysis, sent),
        server=server_words(analysis, sent),
        offered=offered,
        tool_use=calls,
        latency=latency,
        answered=answered,
        asks=waiting_messages(analysis, sent).tolist(),
        asked=waiting_messages(analysis, asked).tolist(),
    )


def judge_message(document: CaptureDocument, message: int) -> Permission:
    predicted, by = document.analysis.capabilities.predicted(message)
    return Permission(_verdict_word(predicted), by, tuple(document.decisions.decisions_on(message)))


def refusal_of(document: CaptureDocument, error: int) -> Refused | None:
    """Returns the refusal in a gateway's error; None for other errors, or without a recipient."""
    to = document.capture.recipients(error)
    refusal = document.analysis.capabilities.refusal(error)
    space = int(document.capture.columns["space"][error])
    return _refusal_story(document, space, to[0], refusal) if to and refusal is not None else None


def _verdict_word(predicted: bool | None) -> str | None:
    return None if predicted is None else "allowed" if predicted else "denied"


def _judged_lately(document: CaptureDocument, rows: list[int]) -> list[tuple[int, Permission]]:
    # Without the gateway's decisions there is no second verdict to compare.
    if document.decisions.found is None:
        return []
    judged = ((row, judge_message(document, row)) for row in rows)
    return [(row, one) for row, one in judged if one.results]


def _refusal_story(document: CaptureDocument, space: int, name: str, refusal: Refusal) -> Refused:
    verdicts = tuple(document.decisions.about_refusal(refusal.row))
    required = next((one["required_capability"] for one in verdicts if "required_capability" in one), None)
    # The error is what the sender saw; the decision is only in the gateway's log.
    missing = refusal.attempted or (required if isinstance(required, str) else None)
    if refusal.message is not None:
        predicted, by = document.analysis.capabilities.predicted(refusal.message)
    else:
        # A gateway does not forward a refused message, so mostly only its kind is known.
        by, ask = None, document.analysis.capabilities.predict_kind
        predicted = None if missing is None else ask(space, name, missing, refusal.row)
    return Refused(refusal.row, refusal.message, missing, Permission(_verdict_word(predicted), by, verdicts))
