"""Targets and options of opening a document, and the gateways to join: plain data for the pipe."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from inspector.sources.transcript_files import Member

if TYPE_CHECKING:
    from inspector.document.source_set import SourceChoice


class Target(msgspec.Struct, frozen=True):
    """A log to open.

    Attributes:
        path: a file, folder, pipe or store of sessions; resolved by the caller.
        is_session: an agent's session, opened with the files of its sub-agents.
        reading: forced format; None for detection.
        parts: rotated parts of the log, oldest first; or further files of the same sessions.
        is_live: a gateway session of the same engine writes it.
        clock_offset_ns: correction of its times by the user; None to estimate one.
        name: display name, if it differs from the file's name.
        member: facts about a single file of a session.
    """

    path: Path
    is_session: bool = False
    reading: str | None = None
    parts: tuple[Path, ...] = ()
    is_live: bool = False
    clock_offset_ns: int | None = None
    name: str | None = None
    member: Member | None = None

    @property
    def key(self) -> Path:
        """Identity, independent of options."""
        return self.path.absolute()


def target_of_choice(choice: SourceChoice) -> Target:
    """Returns the target that opens a source again."""
    return Target(
        choice.path, choice.is_session, choice.reading, choice.parts, choice.is_live, choice.clock_offset_ns,
        choice.name, choice.member,
    )  # fmt: skip


def choice_of_target(target: Target) -> SourceChoice:
    """Returns a target as a source of a document."""
    from inspector.document.source_set import SourceChoice

    return SourceChoice(
        target.path, parts=target.parts, is_session=target.is_session, is_live=target.is_live,
        clock_offset_ns=target.clock_offset_ns, reading=target.reading, name=target.name, member=target.member,
    )  # fmt: skip


class OpenOptions(msgspec.Struct, frozen=True):
    """Options on how logs are read and judged. They apply before reading, since passes run while records arrive.

    Attributes:
        memory_mb: memory limit in MB; 0 for half of the free memory.
        aliases: texts of tool aliases.
        prices, prices_dated: lines of the price table and their date; None for no prices.
        newest_first: pending results collapse in reverse order.
        idle_after_s: seconds until a context is idle; None for the default.
        baseline: compares tools of MCP servers with their last tapped lists.
        checked: also runs the checks that read records again.
        counted_bytes: counts the tokens of logs with at most that many bytes; None for all, 0 for none.
        unmasked: keeps secrets in fragments of records.
        follow: reads on when a log grows.
        count_tokens: counts tokens when idle.
        name, path: name and path of a document of several logs, instead of the name and path of the first.
        marks: restores the marks of the messages, from beside a single file or the data folder.
    """

    memory_mb: int = 0
    aliases: tuple[str, ...] = ()
    prices: tuple[str, ...] | None = None
    prices_dated: str = ""
    newest_first: bool = False
    idle_after_s: int | None = None
    baseline: bool = False
    checked: bool = False
    counted_bytes: int | None = 0
    unmasked: bool = False
    marks: bool = False
    follow: bool = False
    count_tokens: bool = False
    name: str = ""
    path: Path | None = None


class Gateway(msgspec.Struct, frozen=True):
    """A gateway to join.

    Attributes:
        url, space, participant, token, answer_tools_list: as in `inspector.sources.connection.Connection`.
        demo: its capture may be deleted without a question.
    """

    url: str
    space: str
    participant: str | None = None
    token: str = ""
    answer_tools_list: bool = True
    demo: bool = False

    def __repr__(self) -> str:
        return f"Gateway(space={self.space!r})"  # addresses and tokens are secrets
