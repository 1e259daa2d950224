"""Roles of messages in a model's context, and reasons for and against their presence.

No protocol of the family reports a client's model input. A participant's own messages and answers to its calls are
certain; everything else is marked as an assumption. With a recorded model API all is certain.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Role(enum.IntEnum):
    """Role of a message for the model, as in chat completion APIs."""

    NONE = 0
    SYSTEM = 1
    USER = 2
    ASSISTANT = 3
    TOOL = 4
    TOOLS = 5
    """Tool definitions, which APIs take beside the messages."""

    @property
    def word(self) -> str:
        """Display and export form."""
        return "" if self is Role.NONE else self.name.lower()


class Why(enum.IntEnum):
    """Reason for the presence, removal or absence of a message. `REASONS` has the sentences."""

    OTHER = 0
    SAID = 1
    THOUGHT = 2
    CALLED = 3
    PROPOSED = 4
    TOLD = 5
    ASKED = 6
    ANSWERED = 7
    GIVEN = 8
    DEFINED = 9
    INSTRUCTED = 10
    OTHERS_THOUGHT = 11
    FOR_OTHERS = 12
    PROGRAM = 13
    FRAME = 14
    ELSEWHERE = 15
    UNREADABLE = 16
    FORGOTTEN = 17
    COMPACTED = 18
    CLEARED = 19
    REPLACED = 20
    NOTE = 21
    REOPENED = 22
    FULFILLED = 23
    REPEATED = 24
    SUMMARISED = 25
    SUMMARY = 26
    DROPPED = 27
    COPIED = 28
    REWOUND = 29
    ROLLED_BACK = 32
    ASKS_FOR_INPUT = 30
    RETRIED = 31
    BECAME_TASK = 33
    PROMPTED = 34
    SENT = 35
    NOT_SENT = 36
    INHERITED = 37


@dataclass(frozen=True, slots=True)
class Reason:
    """Text of a reason.

    Attributes:
        sentence: the reason; `{no}` is the number of the causing message.
        assumed: True if it rests on common client behaviour and is not reported.
    """

    sentence: str
    assumed: bool = True


REASONS: dict[Why, Reason] = {
    Why.OTHER: Reason("No known client gives such a message to its model."),
    Why.SAID: Reason("It wrote this itself.", assumed=False),
    Why.THOUGHT: Reason("Its own reasoning. Clients may drop it in later turns."),
    Why.CALLED: Reason("It called this tool.", assumed=False),
    Why.PROPOSED: Reason("It proposed this call.", assumed=False),
    Why.TOLD: Reason("Addressed to it, or to everyone."),
    Why.ASKED: Reason("A proposal it may act on."),
    Why.ANSWERED: Reason("The result of its own call.", assumed=False),
    Why.ASKS_FOR_INPUT: Reason("It asks for input instead of a result. Clients repeat the call with the input."),
    Why.RETRIED: Reason("A repeat of the call with the requested input. The model made the call once."),
    Why.BECAME_TASK: Reason("It starts a task instead of a result. Clients fetch the result later."),
    Why.REPEATED: Reason("A repeated answer. Clients use the first answer to a call."),
    Why.FULFILLED: Reason("The result of a call it proposed. Agents wait for it."),
    Why.GIVEN: Reason("A resource or prompt it asked for."),
    Why.DEFINED: Reason("Tools listed for it. Clients pass their definitions to the model."),
    Why.INSTRUCTED: Reason("Instructions of the server for the model."),
    Why.PROMPTED: Reason("The system prompt of the request.", assumed=False),
    Why.SENT: Reason("It was sent to the model with a request.", assumed=False),
    Why.NOT_SENT: Reason("Not sent again from No. {no} on.", assumed=False),
    Why.OTHERS_THOUGHT: Reason("Reasoning of another participant."),
    Why.FOR_OTHERS: Reason("Addressed to others."),
    Why.PROGRAM: Reason("Handled by the program around the model."),
    Why.FRAME: Reason("A frame of a stream. The message that ends the stream has the whole content."),
    Why.ELSEWHERE: Reason("In a sub-context of another participant."),
    Why.UNREADABLE: Reason("It could not be read.", assumed=False),
    Why.NOTE: Reason("A note of the recording or the gateway's log, not a participant's message.", assumed=False),
    Why.FORGOTTEN: Reason("No. {no} told it to forget. No report confirms that it did."),
    Why.COMPACTED: Reason("No. {no} reports a compaction, but not the removed messages."),
    Why.CLEARED: Reason("No. {no} told it to start over. No report confirms that it did."),
    Why.REOPENED: Reason("No. {no} started another run over the connection. Clients then start a new conversation."),
    Why.SUMMARISED: Reason("Compacted. The summary in No. {no} replaces it.", assumed=False),
    Why.SUMMARY: Reason("The summary that replaced the compacted messages.", assumed=False),
    Why.DROPPED: Reason("No. {no} names it among the cleared results.", assumed=False),
    Why.ROLLED_BACK: Reason("No. {no} took back its turn.", assumed=False),
    Why.COPIED: Reason("A copy of an earlier message.", assumed=False),
    Why.INHERITED: Reason("Copied from the thread that this one was forked from.", assumed=False),
    Why.REWOUND: Reason("The user went back to a point before it. No. {no} continues from there.", assumed=False),
    Why.REPLACED: Reason("No. {no} lists the tools again."),
}
"""Texts of the column "why"; a collapsed result shows `COLLAPSED` instead."""

COLLAPSED = Reason("No. {no} consumed it. Its summary replaces it if the client collapsed it as told.")
