"""Cards of a conversation as plain structs, and the reference by which one is asked for."""

from __future__ import annotations

import enum
from typing import Literal

import msgspec

from inspector.present.conversation.blocks import Blocks

Tone = Literal["good", "bad", "warn", "quiet"]


class CardKind(enum.IntEnum):
    """Kind of a card."""

    PROMPT = 0
    ANSWER = 1
    THOUGHT = 2
    CALL = 3
    AGENT = 4
    """A call that started a sub-agent; its steps are below it once it is unfolded."""
    COMPACTION = 5
    FOLD = 6
    """A run of quiet steps."""
    RECORDS = 7
    """A run of records that a program wrote for itself."""
    GROUP = 8
    """A span of a trace, or a context without a call; its steps are below it unless it is folded."""
    OTHER = 9
    INHERITED = 10
    """Messages of the parent chat from before a sub-session of MSP; they follow once it is unfolded."""
    END = 11
    """The end of a sub-session of MSP, with its summary."""


class CardRef(msgspec.Struct, frozen=True, array_like=True):
    """Reference to a card; stays valid while a log grows.

    Attributes:
        kind: `CardKind`.
        message: its first message.
        last: its last message; -1 without a second one.
    """

    kind: int
    message: int
    last: int = -1


class Pill(msgspec.Struct, frozen=True, array_like=True):
    """A word for an outcome, with its tone."""

    word: str
    tone: Tone


class Picture(msgspec.Struct, frozen=True):
    """A picture inside a message; its bytes are asked for apart.

    Attributes:
        message, index: the message, and the place among its pictures.
        mime: declared type; "" if unknown.
        size_bytes: -1 if unknown.
        words: "image/png, 12.3 kB".
    """

    message: int
    index: int
    mime: str
    size_bytes: int
    words: str


class OutputLine(msgspec.Struct, frozen=True, array_like=True):
    """A line of output; True for one that names a failure."""

    text: str
    is_failure: bool = False


class Output(msgspec.Struct, frozen=True):
    """Output of a call.

    Attributes:
        message: the answer.
        lines: the shown lines.
        above, below: lines left out before and after them.
    """

    message: int
    lines: tuple[OutputLine, ...]
    above: int = 0
    below: int = 0


class DiffLine(msgspec.Struct, frozen=True, array_like=True):
    """A line of a change.

    Attributes:
        sign: " ", "+", "-", or "@" between two places of a file.
        text: the line without its end.
        old, new: line numbers from 1; 0 if unknown or absent.
    """

    sign: str
    text: str
    old: int = 0
    new: int = 0


class Diff(msgspec.Struct, frozen=True):
    """The change of one file.

    Attributes:
        path: as written.
        name: its last part.
        verb: "Edit", "Write" or "Delete".
        note: a move's target, or "all places"; "".
        added, removed: numbers of lines.
        lines: the lines.
        more: lines left out.
        language: as in `inspector.present.code`; "" if unknown.
    """

    path: str
    name: str
    verb: str
    note: str
    added: int
    removed: int
    lines: tuple[DiffLine, ...]
    more: int = 0
    language: str = ""


class _Card(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """A card.

    Attributes:
        ref: its reference.
        time_ns: time of its first message; NO_TIME if unknown.
        sender: name of the sender, safe to show; "" if unknown.
        receivers: named recipients; "" for everyone or none.
        badges: badge ids of a result.
        severity: "note", "warning" or "error" for the worst finding; "".
        marked: the user has marked it.
        aside: a remark: "forged", "appears twice"; "".
    """

    ref: CardRef
    time_ns: int
    sender: str = ""
    receivers: str = ""
    badges: tuple[str, ...] = ()
    severity: str = ""
    marked: bool = False
    aside: str = ""


class TextCard(_Card, frozen=True):
    """A prompt or an answer; `kind` of the reference tells which.

    Attributes:
        blocks: its text.
        more: characters left out.
        pictures: pictures in it.
        is_open: it is a stream that may grow.
    """

    blocks: Blocks
    more: int = 0
    pictures: tuple[Picture, ...] = ()
    is_open: bool = False


class ThoughtCard(_Card, frozen=True):
    """A thought.

    Attributes:
        line: its first line.
        blocks: all of it.
        more: characters left out.
        took_ns: -1 if unknown.
    """

    line: str
    blocks: Blocks
    more: int = 0
    took_ns: int = -1


class CallCard(_Card, frozen=True):
    """A call with its answer.

    Attributes:
        tool: name of the tool or method.
        verb: "$" for a command, "Read", "Search", "Edit"; else the name of the tool.
        subject: the command, file, pattern or arguments on one line.
        is_command: `subject` is a shell command.
        is_quiet: it read or searched, and went well: one line suffices.
        command: all of a command with several lines; "".
        about: the purpose of a command, as the model gave it; "".
        pill: the outcome; None if there is none to tell.
        state: `StepState`.
        took_ns: duration; -1 if unknown.
        decision: "answered after 7.7 s"; "" where the log does not tell.
        said: the answer in a few words: "185 lines"; "".
        output: lines of the answer, if any.
        diffs: changes of files.
        pictures: pictures in the answer.
        answer: message of the answer; -1 without one.
    """

    tool: str
    verb: str
    subject: str
    is_command: bool = False
    is_quiet: bool = False
    command: str = ""
    about: str = ""
    pill: Pill | None = None
    state: int = 0
    took_ns: int = -1
    decision: str = ""
    said: str = ""
    output: Output | None = None
    diffs: tuple[Diff, ...] = ()
    pictures: tuple[Picture, ...] = ()
    answer: int = -1


class AgentCard(_Card, frozen=True):
    """A sub-agent.

    Attributes:
        agent: its name or type.
        task: its task in a line.
        model: "" if unknown.
        prompt, result: the whole task, and its result.
        calls, failed: tool calls in it, and failed ones; `calls` is -1 if neither the log nor its result tells.
        steps: steps in it, without nested ones.
        tokens: reported tokens of all kinds, cache reads included; -1 if unknown.
        dollars: None if unknown.
        pill: the outcome.
        state: `StepState`.
        took_ns: -1 if unknown.
        node: its context.
        answer: message of its result; -1 without one.
        has_prompt_below: its steps begin with the prompt.
    """

    agent: str
    task: str
    model: str = ""
    prompt: Blocks = ()
    result: Blocks = ()
    calls: int = 0
    failed: int = 0
    steps: int = 0
    tokens: int = -1
    dollars: float | None = None
    pill: Pill | None = None
    state: int = 0
    took_ns: int = -1
    node: int = -1
    answer: int = -1
    has_prompt_below: bool = False


class CompactionCard(_Card, frozen=True):
    """A compacted context.

    Attributes:
        words: the words of the record on one line.
        before, after: tokens of the context, as the record tells or as the calls around it report; -1 if unknown.
        blocks: the summary that replaces the context.
        more: characters of it left out.
    """

    words: str
    before: int = -1
    after: int = -1
    blocks: Blocks = ()
    more: int = 0


class EndCard(_Card, frozen=True):
    """The end of a sub-session.

    Attributes:
        words: "units closed at 20:41:58".
        is_discarded: it was given up.
        blocks: its summary.
        more: characters of it left out.
    """

    words: str
    is_discarded: bool = False
    blocks: Blocks = ()
    more: int = 0


class FoldCard(_Card, frozen=True):
    """A run of steps or records, or messages of the parent chat.

    Attributes:
        words: "4 more steps: 3 reads, 1 search", "12 records of robot".
        count: number of steps.
        took_ns: from its beginning to its end; -1 if unknown.
    """

    words: str
    count: int
    took_ns: int = -1


class GroupCard(_Card, frozen=True):
    """A span or context with steps below it.

    Attributes:
        label: its name.
        words: its description.
        steps: steps directly below it.
        pill: the outcome.
        took_ns: -1 if unknown.
        node: its context; -1 without one.
    """

    label: str
    words: str
    steps: int = 0
    pill: Pill | None = None
    took_ns: int = -1
    node: int = -1


class OtherCard(_Card, frozen=True):
    """A message without a card of its own kind: an envelope of a gateway, a record, an unreadable line.

    Attributes:
        label: its kind in a word.
        words: the words of its row.
        mono: they are no prose.
        pill: its state.
    """

    label: str
    words: str
    mono: bool = False
    pill: Pill | None = None


Card = (
    TextCard | ThoughtCard | CallCard | AgentCard | CompactionCard | EndCard | FoldCard | GroupCard | OtherCard
)  # fmt: skip
