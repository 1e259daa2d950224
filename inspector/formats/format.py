"""Declaration of a format: the one object that a format's folder, or a plug-in, gives to the program."""

from __future__ import annotations

import enum
import pkgutil
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from inspector.formats.agent_rpc import OrderedLines
from inspector.formats.clients import Client, ManualClient, ModelApi, ModelClient
from inspector.formats.entry_builders import Entry
from inspector.formats.file_conversion import NamedRecord
from inspector.formats.moved_results import MovedResults
from inspector.formats.signatures import Signature
from inspector.protocol.derived_messages import Payload
from inspector.protocol.header import Header
from inspector.protocol.record import Record, Shape


class Stage(enum.Enum):
    """Place of a format in the order tried; each stage calls `Format.read` in its own way.

    TRANSCRIPT, LATE, PROTOCOL and DECLARED have derived messages, and so a `payload`.
    """

    TRANSCRIPT = enum.auto()
    """`read(line, *, unknown)`: records without envelopes, tried before all others, since some accept one key."""
    ENVELOPE = enum.auto()
    """`read(header, line)`: lines that are JSON objects, by the keys that `inspector.protocol.header` declares.

    With a `reassembly` it is `read(header, line, known, known_of)`: facts from earlier lines, and a function for them.
    """
    WRAPPER = enum.auto()
    """`read(header, line, read_inner)`: JSON objects with a line of another format inside."""
    TEXT = enum.auto()
    """`read(line, read_inner)`: lines that are no JSON objects."""
    LATE = enum.auto()
    """As TRANSCRIPT, tried after all other formats, since its keys occur in many others."""
    PROTOCOL = enum.auto()
    """As TRANSCRIPT, but recognized by methods in the JSON-RPC lines of any other format."""
    DOCUMENT = enum.auto()
    """No lines: a document that is opened or converted as a whole."""
    DECLARED = enum.auto()
    """As TRANSCRIPT, for lines that are JSON objects or text, tried before WRAPPER and before a line is refused."""


class Conversations(enum.Enum):
    """Assignment of a format's derived messages to conversations."""

    RESOLVED = enum.auto()
    """By the order of records, which may also name sessions, sub-agents, threads and histories."""
    NAMED = enum.auto()
    """Records name their conversations, and there are no sub-agents."""
    CONTINUED = enum.auto()
    """As NAMED, but an answer belongs to the conversation of the last request."""


class TrafficKind(enum.StrEnum):
    """Kind of traffic that a format records."""

    TRANSCRIPT = "transcript"
    """Sessions of agents, recorded by their program."""
    TRACE = "trace"
    """Spans of instrumented programs: each model call is one of its own, and calls of tools may have no record."""
    EVALUATION = "evaluation"
    """Runs of a benchmark with their results."""
    WIRE = "wire"
    """Messages as they were sent."""
    LOG = "log"
    """Lines of a program's log, with messages inside."""


class Origin(enum.StrEnum):
    """Source of a format."""

    BUILT_IN = "built-in"
    PLUG_IN = "plug-in"
    DECLARED = "declared"


@dataclass(frozen=True, slots=True, kw_only=True)
class Participants:
    """Senders of a coding agent's messages.

    Attributes:
        agent: sender of the model's messages.
        program: sender of messages that the agent's program writes.
    """

    agent: str
    program: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RpcProtocol:
    """A protocol inside JSON-RPC lines.

    Attributes:
        is_own: returns True for a message with a method of no other protocol.
        derive_entries: returns the rows of a message with the facts known from earlier lines.
        follow_lines: returns an object that follows the lines of one source in order.
        method_beginnings: regular expressions of beginnings of methods in requests whose answers need earlier lines.
        shared_beginnings: those of them that other protocols have too, each with bytes of which only this one has any.
    """

    is_own: Callable[[Header], bool]
    derive_entries: Callable[[Mapping[str, Any], Mapping[str, Any]], list[Entry]]
    follow_lines: Callable[[], OrderedLines]
    method_beginnings: tuple[bytes, ...]
    shared_beginnings: Mapping[bytes, tuple[bytes, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTools:
    """Tools of an agent's program, and its words in their results; known also to recordings of its model's API.

    Attributes:
        declined: beginnings of results of calls that the user declined.
        failure_prefixes: texts that may stand before the words of a failure.
        person_tools: tools that a person answers.
        program_texts: beginnings of texts that the program writes in the user's place.
    """

    declined: tuple[str, ...] = ()
    failure_prefixes: tuple[str, ...] = ()
    person_tools: tuple[str, ...] = ()
    program_texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceList:
    """List prices of a provider's models.

    Attributes:
        provider: owner of the models, as `OpenAI`.
        lines: one model and tier a line, as `inspector.analysis.passes.tokens.price_table` reads them.
    """

    provider: str
    lines: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedFiles:
    """Files of a session whose messages another file beside them has too.

    Attributes:
        names: matches their names.
        beside: name of the other file.
    """

    names: re.Pattern[str]
    beside: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TornRecord:
    """A record that a program writes with raw line ends in its texts, so that it extends over several lines.

    Attributes:
        mark: bytes in lines with such a record; a fast filter.
        begins: matches the beginning of a record.
        broken: finds a record whose line does not end it.
    """

    mark: bytes
    begins: re.Pattern[bytes]
    broken: re.Pattern[bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLines:
    """Lines of a log beside its messages.

    Attributes:
        marks: substrings of which every longer part of such a log has some.
        is_log_line: returns True for a line without a message.
        is_continuation: returns True for a line that continues the line before it.
        names_message: returns the client of a line that names a message without its content; None for others.
    """

    marks: tuple[bytes, ...]
    is_log_line: Callable[[bytes], bool]
    is_continuation: Callable[[bytes], bool]
    names_message: Callable[[bytes], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """Everything known about one kind of traffic.

    Parts that need more of the program than a reader (checks, sessions, conversion) are named as `module:attribute`,
    as entry points are, and imported when asked for: see `load`.

    Attributes:
        name: identifier on the command line, in the column `format` and in exports, as `robot`.
        title: words for a log of this format, as `Robot session`.
        reads: its part of the sentence about readable formats, as `sessions of Robot`.
        stage: when and how `read` is called.
        read: reads one line, without its end; returns None for lines of other formats. Pure, and never raises. Not for
            stage DOCUMENT.
        payload: returns the payload of message `number`, from 0, of a record; needed by formats with derived messages.
        conversion: reference to the `FileConverter` of files that are no lines.
        sessions: reference to the `SessionFinder` of a program that keeps sessions on this machine.
        moved_results: places of results that were too long for a session's file.
        suffixes: endings of its files' names, except for those of other logs, as `.robot`.
        is_log_in_folders: files with these endings in a folder are logs of that folder.
        repeated_files: files that are left out of a folder with another one.
        topic: topic of its derived messages in presets of filters; "" for the one of its kind of traffic.
        store: reference to a function from a path to its `SessionStore`, or None for other paths. Never raises OSError.
        original_records: kinds of records in the original of converted lines; the first in a line names its place.
        has_numbered_entries: the exchanges of converted lines are the numbered entries of a file.
        title_kinds: its own kinds that name a session, best first, each with the member of the payload that has the
            title. The first prompt comes after them.
        icons: icons of its own kinds, by kind or by namespace, as `robot/`; names in `resources/fonts/RemixIcon.json`
            with the prefix `ri.`.
        conversations: assignment of derived messages to conversations.
        names_sessions: each record names its session, since a file contains several.
        has_session_files: a session without an id is a file; its records name the format as their session.
        is_model_wire: its derived messages are requests to models and their answers, as sent.
        repeats_history: a request to a model repeats the messages before it.
        titles_by_shape: names and titles of lines of another shape, as `(name, title)`.
        begins_like: returns True for a line that no other format of TRANSCRIPT can read; a fast filter.
        identified_by_type: a record of an unknown type identifies a file.
        names_file: a record among the first ones of a file of lines decides the format of all of them: some look
            like lines of another format.
        participants: senders of a coding agent; None for other formats.
        namespace: prefix of kinds that only this format has, as `robot/`.
        spoken_kinds: words for its own kinds, by kind.
        failing_kinds: its own kinds that may report a failure without being a result.
        request_kinds: its own kinds that begin a request to its model, after any pause.
        stop_kinds: its own kinds that stop an agent, which then waits for no answer.
        model_operations: operations of model APIs in its requests.
        uncached_operations: those of them whose prompts are cached only if the request asks for it.
        inbound_events: events of its lines whose participant is the sender of the envelope.
        noise_kind: kind of a line that a process writes beside its messages.
        context_rules: reference to the `ContextRules` of its program, if they differ from those of others.
        checks: reference to the `DeclaredTopic` of findings that only this traffic can have.
        fast_lines: reference to the `FastReader` of its usual lines.
        array_format: name of the format of a JSON array, if that format reads its first element as this one does.
        order_marks: substrings in the beginning of a source whose lines depend on earlier ones.
        reassembly: reference to the `ReassemblyStage` of messages over several lines.
        torn_record: records that extend over several lines.
        log_lines: lines of a log beside its messages.
        rpc: the protocol of a format in stage PROTOCOL.
        lone_answers_of: the model, if its answers may be saved without requests. Its calls wait only in a conversation
            with messages of others, such as results.
        may_lack_results: a client outside of the log may run tools. Its calls wait only in a conversation with a
            result.
        signatures: files beside its logs that are refused, each with its remedy.
        further_namespaces: prefixes of its kinds of records around messages.
        bookkeeping: kinds of records that a program writes for itself; lists can hide them. Failures, interruptions,
            compactions and unknown kinds are not bookkeeping.
        tools: tools of its program.
        session_headers: headers of its program's calls to models with the session, in lower case.
        agent_headers: likewise with the agent in it.
        prices: prices of the models that its program calls.
        traffic: kind of traffic.
        origin: source of the format.
        array_path: keys from a document to the array with its records; None for lines.
        client: MCP configuration of its program.
        model_apis: addresses of the models that its program calls.
        model_client: its program takes those addresses from more than variables.
    """

    name: str
    title: str
    reads: str
    stage: Stage
    read: Callable[..., Record | None] = lambda *_, **__: None
    payload: Callable[..., Payload] | None = None
    conversion: str = ""
    sessions: str = ""
    moved_results: MovedResults | None = None
    suffixes: tuple[str, ...] = ()
    is_log_in_folders: bool = True
    repeated_files: RepeatedFiles | None = None
    topic: str = ""
    store: str = ""
    original_records: tuple[NamedRecord, ...] = ()
    has_numbered_entries: bool = False
    title_kinds: Mapping[str, str] = field(default_factory=dict)
    icons: Mapping[str, str] = field(default_factory=dict)
    conversations: Conversations = Conversations.RESOLVED
    names_sessions: bool = False
    has_session_files: bool = False
    is_model_wire: bool = False
    repeats_history: bool = False
    titles_by_shape: Mapping[Shape, tuple[str, str]] = field(default_factory=dict)
    begins_like: Callable[[bytes], bool] | None = None
    identified_by_type: bool = False
    names_file: bool = False
    participants: Participants | None = None
    namespace: str = ""
    spoken_kinds: Mapping[str, str] = field(default_factory=dict)
    failing_kinds: tuple[str, ...] = ()
    request_kinds: tuple[str, ...] = ()
    stop_kinds: tuple[str, ...] = ()
    model_operations: tuple[str, ...] = ()
    uncached_operations: tuple[str, ...] = ()
    inbound_events: tuple[str, ...] = ()
    noise_kind: str = ""
    context_rules: str = ""
    checks: str = ""
    fast_lines: str = ""
    array_format: str = ""
    order_marks: tuple[bytes, ...] = ()
    reassembly: str = ""
    torn_record: TornRecord | None = None
    log_lines: LogLines | None = None
    rpc: RpcProtocol | None = None
    lone_answers_of: str = ""
    may_lack_results: bool = False
    signatures: tuple[Signature, ...] = ()
    further_namespaces: tuple[str, ...] = ()
    bookkeeping: frozenset[str] = frozenset()
    tools: AgentTools = AgentTools()
    session_headers: tuple[str, ...] = ()
    agent_headers: tuple[str, ...] = ()
    prices: PriceList | None = None
    traffic: TrafficKind = TrafficKind.TRANSCRIPT
    origin: Origin = Origin.BUILT_IN
    array_path: tuple[str, ...] | None = None
    client: Client | ManualClient | None = None
    model_apis: tuple[ModelApi, ...] = ()
    model_client: ModelClient | None = None

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Prefixes of kinds that only this format has."""
        return (self.namespace, *self.further_namespaces) if self.namespace else self.further_namespaces

    @property
    def titles(self) -> dict[str, str]:
        """Titles by name: its own, and those of other shapes."""
        return {self.name: self.title, **dict(self.titles_by_shape.values())}

    @property
    def product(self) -> str:
        """Name of the program that writes its sessions: its title without "session"."""
        return self.title.removesuffix(" session")

    def name_of(self, shape: Shape) -> str:
        """Returns the name of a line with this shape."""
        found = self.titles_by_shape.get(shape)
        return self.name if found is None else found[0]


def load(reference: str) -> Any:
    """Imports a part of a format by `module:attribute`. Raises ImportError or AttributeError."""
    return pkgutil.resolve_name(reference)
