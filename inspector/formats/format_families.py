"""Declares formats of which several folders differ in names alone: exports of spans, and files with runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from inspector.formats.format import Format, Participants, Stage, TrafficKind
from inspector.formats.json_transcript import JsonTranscript
from inspector.formats.vocabulary import Voice


def span_export(package: str, *, title: str, reads: str) -> Format:
    """Returns the format of an observability program's exports, which become spans.

    Args:
        package: its folder, with a module `conversion`; the folder's name is that of the format.
        title, reads: as of `Format`.
    """
    return Format(
        name=package.rpartition(".")[2], title=title, reads=reads, stage=Stage.DOCUMENT, traffic=TrafficKind.TRACE,
        conversion=f"{package}.conversion:CONVERSION",
    )  # fmt: skip


def chat_export(
    package: str, reader: JsonTranscript, voice: Voice, *, title: str, reads: str, bookkeeping: Iterable[str]
) -> Format:
    """Returns the format of a file with conversations of one user; arguments as of `run_format`.

    The first record of a conversation is of the kind `conversation`, with its `title`.
    """
    found = run_format(package, reader, voice, title=title, reads=reads, bookkeeping=bookkeeping)
    return replace(
        found, traffic=TrafficKind.TRANSCRIPT, title_kinds={voice.namespace + "conversation": "title"},
        icons={voice.namespace: "ri.chat-3-line"}, failing_kinds=(),
        lone_answers_of=voice.agent,  # an export has no results of some tools, and its chats wait for none
    )  # fmt: skip


def run_format(
    package: str, reader: JsonTranscript, voice: Voice, *, title: str, reads: str, bookkeeping: Iterable[str],
    suffixes: tuple[str, ...] = (),
) -> Format:  # fmt: skip
    """Returns the format of files with runs (`run_files`).

    Args:
        package: its folder, with a module `conversion`.
        reader, voice: of its lines.
        title, reads, suffixes: as of `Format`.
        bookkeeping: kinds of its records that are no messages, without the namespace.
    """
    return Format(
        name=reader.name, title=title, reads=reads, stage=Stage.TRANSCRIPT, traffic=TrafficKind.EVALUATION,
        read=reader.read, payload=reader.payload, conversion=f"{package}.conversion:CONVERSION", names_sessions=True,
        icons={voice.namespace: "ri.flask-line"},
        participants=Participants(agent=voice.agent, program=voice.program), namespace=voice.namespace,
        failing_kinds=(voice.namespace + "outcome",),
        bookkeeping=frozenset(voice.namespace + kind for kind in bookkeeping), suffixes=suffixes,
    )  # fmt: skip
