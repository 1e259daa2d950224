"""The log formats, and the one way a line becomes a record.

To add one: a module here, one line in FORMATS, and a sample in tests/data/formats/. The module has

- `read(header, line) -> Record | None`: reads a line that is a JSON object, None when it is another format's; what its
  keys are is declared in `inspector.protocol.header`. Where lines are no JSON objects, as those with a time before
  one, it is `read(line)`, the module is not in FORMATS but in EVERY, and `_other` asks it.
- LABEL, its name for programs; where it is in FORMATS also LABELS, the names that go by what a line holds;
- WORDS, what the window calls a log of each of these names;
- READS, which words about it stand in the sentence that says what can be read.

A *transcript* is a format whose records are no envelopes: one may mean several messages, and what another one said
(docs/transcripts.md). Its module, or package, stands in TRANSCRIPTS, which are asked before all others, the most
specific first. It has, beside the names above,

- `read(line, *, unknown=False) -> Record | None`: a record of the shape MEANING whose `means` are the messages, at
  least one (`inspector.protocol.meaning`): all that columns are made of. `unknown` asks whether a line that no format
  knows is a record of a type that came later;
- `payload(line, number) -> dict`: what one of them says, made again whenever somebody looks;
- where a coding agent wrote it, and it stands in CODING_AGENTS, too, AGENT and PROGRAM, by whom messages of the model
  and of the program around it are, and NAMESPACE, how kinds begin that only this format has.

Kind, sender, recipients, context and ids of the envelope that a message is shown as come from the columns, which may
know more than its record does; nothing above a capture can tell it from one that somebody wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from inspector.protocol.batch import batch_in
from inspector.protocol.formats import (
    a2a,
    acp,
    agent_rpc,
    bare,
    capture_file,
    claude,
    codex,
    copilot,
    gateway_log,
    gemini,
    http_lines,
    messages,
    opencode,
    otlp,
    prefixed,
    vscode_chat,
    wrapped,
)
from inspector.protocol.frames import read_frame
from inspector.protocol.header import TOO_DEEP, NotAnObjectError, read_header
from inspector.protocol.joined import joined_in
from inspector.protocol.json_size import TOO_MUCH, is_too_much
from inspector.protocol.meaning import Payload
from inspector.protocol.record import ModelCall, Record, Shape, unreadable
from inspector.protocol.shallow import MAX_LENGTH, Shallow
from inspector.protocol.usual import is_usual

# In the order tried. Gateway lines come before bare ones, because a line about a failure has `id` and
# `error` as a JSON-RPC answer has; HTTP recordings before them, as their lines have a `kind`; captures come before
# wrapped lines, whose shape theirs is a case of.
FORMATS = (gateway_log, http_lines, bare, capture_file, wrapped)

TRANSCRIPTS = (claude, codex, copilot, gemini, opencode, otlp, vscode_chat)
"""Formats whose records mean messages, in the order asked: before FORMATS, some of which know a line by one key."""

CODING_AGENTS = (claude, codex, copilot, gemini, opencode, vscode_chat)
"""Of these, sessions of coding agents."""

_CODEX = (codex,)

_BY_TYPE = (claude, otlp)
"""Those of which a record of a type that came later makes a file one; of others any log may have the keys."""

AGENTS = (acp, a2a)
"""Protocols between agents as JSON-RPC: told by their methods, of lines in any of FORMATS that carry it."""

LATE = (messages,)
"""The same, but asked when no other format knows a line: what their records hold stands in many others."""

EVERY = (*FORMATS, *AGENTS, prefixed, *TRANSCRIPTS, *LATE)
"""All of them, those included whose lines are no JSON objects."""

FRAME_LABEL = "stream-frames"
"""Lines `#id#data`: readable, but so is many a comment, so they do not make a file a log."""

WORDS: dict[str, str] = {label: words for one in EVERY for label, words in one.WORDS.items()}
"""What the window calls a log, by label."""

READS = ", ".join(one.READS for one in EVERY)
"""What can be read, for a sentence."""

_MAX_NESTING = 4
_MEANT_BY = {one.LABEL: one for one in (*TRANSCRIPTS, *LATE, *AGENTS)}
_PAYLOADS = {**_MEANT_BY, http_lines.LABEL: http_lines, prefixed.LABEL: prefixed}
"""By label, formats that have records which mean messages."""
# Each but the last with its labels by shape, which is a number: a dict would call the enumeration's hash each time.
_READERS = tuple((f.read, tuple(f.LABELS.get(shape, f.LABEL) for shape in Shape)) for f in FORMATS[:-1])


READINGS: dict[str, str] = {one.LABEL: one.WORDS[one.LABEL] for one in EVERY}
"""What a log may be read as when that is chosen: label and words."""


def read_line(line: bytes, reading: str | None = None, known: Mapping[str, Any] | None = None) -> Record:
    """Read one line of any format. Never raises.

    Args:
        line: the line without its end; not blank.
        reading: the format to read it as, one of READINGS; None for the one that knows it.
        known: what lines before it tell of it (`inspector.reading.reassembly.reassembler`).
    """
    return read_line_as(line, known=known)[0] if reading is None else read_chosen(line, reading)[0]


def read_chosen(line: bytes, reading: str) -> tuple[Record, str | None]:
    """Read one line as a format that was chosen, whatever it looks like; as `read_line_as`."""
    record: Record | None = None
    transcript = _MEANT_BY.get(reading)
    if transcript is not None:
        if is_too_much(line):
            return unreadable(line, TOO_MUCH), None
        record = transcript.read(line, unknown=True)
    elif reading == prefixed.LABEL:
        record = prefixed.read(line, read_line)
    else:
        try:
            header = read_header(line)
        except NotAnObjectError as error:
            return unreadable(line, str(error)), None
        if reading == wrapped.LABEL:
            record = wrapped.read(header, line, read_line)
        else:
            module = next(one for one in FORMATS[:-1] if reading == one.LABEL)
            record = module.read(header, line)
    if record is None:
        return unreadable(line, f"nothing that is read as {READINGS[reading]}"), None
    return record, reading


def read_line_as(
    line: bytes, nesting: int = 0, known: Mapping[str, Any] | None = None,
    known_of: Callable[[ModelCall], Mapping[str, Any]] | None = None,
) -> tuple[Record, str | None]:  # fmt: skip
    """Read one line, and name the format that knew it (None when none did).

    Args:
        line: the line without its end; not blank.
        nesting: how many others it stands in.
        known: what lines before it tell of it.
        known_of: says so of a call of a model.
    """
    if line[:1] == b"#":
        record = read_frame(line)
        return record, None if record.shape is Shape.UNREADABLE else FRAME_LABEL
    decoded_whole = not is_too_much(line)
    for transcript in _asked_first(line) if decoded_whole else ():
        record = transcript.read(line)
        if record is not None:
            return record, transcript.LABEL
    try:
        header = read_header(line)
    except NotAnObjectError as error:
        return _other(line, str(error), nesting, known)
    for read, labels in _READERS:
        record = read(header, line, known, known_of) if read is http_lines.read else read(header, line)
        if record is not None:
            label = labels[record.shape]
            own = _of_agents(record, known) if record.shape is Shape.RPC else None
            return record, own.LABEL if own is not None and label == _UNNAMED else label
    if nesting < _MAX_NESTING:
        record = wrapped.read(header, line, lambda inner: read_line_as(inner, nesting + 1, known)[0])
        if record is not None:
            return record, wrapped.LABEL
    if not decoded_whole:
        return unreadable(line, TOO_MUCH), None
    for transcript in LATE:
        record = transcript.read(line)
        if record is not None:
            return record, transcript.LABEL
    for transcript in TRANSCRIPTS:
        record = transcript.read(line, unknown=True)
        if record is not None:
            return record, transcript.LABEL if transcript in _BY_TYPE else None
    return read_frame(line), None


def _asked_first(line: bytes) -> Sequence[ModuleType]:
    """The transcripts that may know a line: to ask all of them takes longer than to read it."""
    if bare.is_rpc(line) or is_usual(line) or http_lines.is_usual(line):
        return ()
    return _CODEX if codex.is_usual(line) else TRANSCRIPTS


def _of_agents(record: Record, known: Mapping[str, Any] | None) -> ModuleType | None:
    """The protocol between agents that JSON-RPC is of, whose messages its record means from here on; None."""
    header = record.header
    if header is None:
        return None
    named = known.get("protocol") if known is not None else None
    found = next((one for one in AGENTS if (named == one.LABEL if named is not None else one.is_own(header))), None)
    return found if found is not None and agent_rpc.mean(record, found.LABEL, found.entries, known) else None


_UNNAMED = bare.LABELS[Shape.RPC]
"""What JSON-RPC is called that says no more of itself."""


def payload_of(record: Record, number: int) -> Payload:
    """What message `number` of a transcript's record says, from 0. Never raises."""
    module = _PAYLOADS.get(record.meant_by or "")
    if module is None:
        return {}
    if record.known is not None:  # of those that are put together
        return module.payload(record.raw, number, record.known)
    return module.payload(record.raw, number)


def _other(
    line: bytes, why: str, nesting: int, known: Mapping[str, Any] | None
) -> tuple[Record, str | None]:  # fmt: skip
    """Read a line that is no JSON object, and name the format that knew it.

    A batch has those of its elements, and so have objects that share a line.
    """
    if why == TOO_DEEP and line[:1] == b"{" and len(line) <= MAX_LENGTH:
        return _too_deep(line, nesting)
    batch = batch_in(line) or (None if nesting else joined_in(line))
    if batch is None and nesting <= 1:  # a container's log may hold a program's, which has a prefix of its own
        record = prefixed.read(line, lambda inner: read_line_as(inner, nesting + 1, known)[0])
        if record is not None:  # nothing by itself: a field of an event stream, or an event of an answer
            return record, prefixed.LABEL if record.shape is not Shape.NOTHING else record.meant_by
    return batch or unreadable(line, why), None


def _too_deep(line: bytes, nesting: int) -> tuple[Record, str | None]:
    """What nothing can read, with all that is known around it: when it came, from whom, and of which envelope it is.

    So the copies of one envelope in a gateway's log are one message.
    """
    shallow = Shallow(line)
    try:
        read_header(shallow.text)
    except NotAnObjectError:
        return unreadable(line, TOO_DEEP), None
    record, label = read_line_as(shallow.text, nesting)
    if record.shape is Shape.UNREADABLE or record.batch:
        return unreadable(line, TOO_DEEP), None
    record.raw, record.shape, record.reason = shallow.original(record.raw), Shape.UNREADABLE, TOO_DEEP
    return record, label
