"""Facts: what a value, a message, a sender and a state are called, read without a window."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.document.document import CaptureDocument
from inspector.present.call_facts import acted_facts, addressed_facts, answer_facts, request_facts
from inspector.present.chain_rows import NO_MESSAGE, chain_rows, missing_answer
from inspector.present.control_facts import control_sentence
from inspector.present.envelope_facts import as_filter, envelope_facts
from inspector.present.facts import Fact, value_facts
from inspector.present.head_words import context_words, participant_words, second_line
from inspector.present.hex_rows import error_offset, hex_rows
from inspector.present.lifecycle_facts import why_no_lifecycle
from inspector.present.places import ContextPlace, ParticipantPlace
from inspector.present.reasoning_facts import sequence_of, thread_rows
from inspector.present.states import presence_word, state_of
from inspector.present.subject import Subject, name_of, recipients, sender_of
from inspector.store.files.capture_writer import CaptureWriter
from inspector.store.messages.capture import Capture
from tests.builders import document_at, document_of, envelope, received, tool_call, tool_result

TRACE = Path(__file__).parents[2] / "data/otlp/openai-agents-openinference-2.6.0.jsonl"
SECRET = "sk-ant-api03-" + "a1b2" * 10


def values_of(rows: list[Fact]) -> dict[str, str]:
    return {row.name: row.value for row in rows}


def subject_of(*lines: dict[str, Any], message: int = -1) -> Subject:
    document = document_of(*(received(line) for line in lines))
    return Subject(document, message % len(document.capture))


def test_a_nested_value_stands_below_its_name() -> None:
    options = {"depth": 2, "pattern": "x" * 80}
    rows = value_facts({"path": "a.py", "options": options, "skipped": 1}, skip=("skipped",))
    assert [(row.name, row.indent) for row in rows] == [("path", 0), ("options", 0), ("depth", 1), ("pattern", 1)]
    assert [row.value for row in rows[2:]] == ["2", "x" * 80]
    assert all(row.mono_name for row in rows)


def test_values_beyond_the_bound_are_counted() -> None:
    rows = value_facts({f"key{number}": number for number in range(75)})
    assert len(rows) == 61
    assert rows[-1].value == "15 more, see Tree"


@pytest.mark.parametrize(
    ("names", "words"),
    [((), "everyone"), (("a",), "a"), (("a", "b"), "a, b"), (("a", "b", "c", "d"), "a, b +2")],
)
def test_recipients_in_short(names: tuple[str, ...], words: str) -> None:
    assert recipients(Capture(), names) == words


def test_a_message_is_called_by_its_tool_its_words_or_its_kind() -> None:
    call = tool_call("read_file")
    document = document_of(*map(received, (call, tool_result(call), envelope("chat", {"text": "hello"}),
                                           envelope("system/heartbeat", {}))))  # fmt: skip
    named = [name_of(document.analysis, message) for message in range(4)]
    assert named == [("read_file", True), ("read_file", True), ("hello", False), ("heartbeat", False)]
    assert sender_of(document.capture, 1) == "files"


def test_a_request_says_who_answered_it_and_how_the_answer_knows_its_tool() -> None:
    call = tool_call("read_file")
    document = document_of(received(call), received(tool_result(call)))
    asked, answered = Subject(document, 0), Subject(document, 1)
    state = state_of(asked)
    assert state is not None
    assert state.word == "answered"
    assert request_facts(asked)[0].value.startswith("Answered by files")
    assert values_of(answer_facts(answered)) == {"Tool": "read_file", "Answer to": "the request No. 1"}
    assert values_of(addressed_facts(asked)).keys() <= {"files"}


def test_a_request_that_is_told_twice_is_answered_by_what_answers_either() -> None:
    asked = Subject(document_at(TRACE), 11)
    assert asked.capture.copies_of(asked.message).tolist() == [12]
    assert request_facts(asked)[0].value == "Result after 3 ms: No. 14"
    assert not any("Elsewhere" in row.name for row in addressed_facts(asked))


def test_a_request_nobody_answered_in_a_log_ends_its_chain_with_what_did_not_come() -> None:
    subject = subject_of(tool_call("read_file"), envelope("chat"), message=0)
    (missing,) = missing_answer(subject)
    assert (missing.message, missing.name, missing.is_link, missing.number) == (NO_MESSAGE, "no answer", False, "")
    assert missing.relation == "lead went on"
    state = state_of(subject)
    assert state is not None
    assert state.word == "waiting"


def test_the_row_of_the_shown_message_leads_nowhere() -> None:
    call = tool_call("read_file")
    document = document_of(received(call), received(tool_result(call)))
    subject = Subject(document, 1)
    rows = chain_rows(document.analysis, subject.chain, 1)
    assert [(row.number, row.is_link, row.own) for row in rows] == [("1", True, False), ("2", False, True)]
    assert rows[1].delta == "this"


def test_who_acted_on_a_proposal_is_listed_in_order() -> None:
    params = {"method": "tools/call", "params": {"name": "write_file", "arguments": {}}}
    proposal = envelope("mcp/proposal", params, to=["files"])
    reject = envelope("mcp/reject", {"reason": "not now"}, sender="judge", correlation_id=[proposal["id"]])
    rows = acted_facts(subject_of(proposal, reject, message=0))
    assert values_of(rows) == {"Rejected by": "judge, No. 2  not now"}


@pytest.mark.parametrize(
    ("kind", "payload", "words"),
    [
        ("pause", {"timeout_seconds": 30}, "lead asks files to pause for 30.0 s."),
        ("forget", {"direction": "oldest", "entries": 3}, "lead asks files to forget its oldest 3 entries."),
        ("compact", {"target_tokens": True}, "lead asks files to compact its context."),
        ("unheard-of", {}, "lead asks something of files."),
    ],
)
def test_a_control_is_a_sentence(kind: str, payload: dict[str, Any], words: str) -> None:
    assert control_sentence(subject_of(envelope(f"participant/{kind}", payload, to=["files"]))) == words


def test_an_envelope_names_what_it_names_and_a_filter_finds_it() -> None:
    first = envelope("chat")
    subject = subject_of(first, envelope("chat", correlation_id=[first["id"], "never-seen"], context="a/b"))
    rows = envelope_facts(subject)
    named = [row.value for row in rows if row.name.strip() in ("Correlation", "")]
    assert named == [f"No. 1  {first['id']}", "not seen  never-seen"]
    assert values_of(rows)["Context"] == "a/b"
    assert as_filter(subject) == f'id == "{subject.capture.records.envelope_id(1)}"'


def test_the_text_is_masked() -> None:
    subject = subject_of(envelope("chat", {"text": f"the key is {SECRET}"}))
    assert SECRET not in subject.text


def test_the_head_says_where_a_message_came_from_and_how_large_it_is() -> None:
    parts = second_line(subject_of(tool_call("read_file"))).split("  ·  ")
    assert (parts[0], parts[-2]) == ("No. 1", "lead → files")
    assert parts[-1].endswith(" B")


def test_the_heads_of_places_count_their_messages() -> None:
    document = document_of(*(received(envelope("chat", context=name)) for name in (None, "job", "job/part")))
    space = int(document.capture.columns["space"][0])
    node = document.analysis.contexts.node_of(1)
    main = context_words(document, ContextPlace(space, MAIN))
    job = context_words(document, ContextPlace(space, node))
    assert (main.name, main.second_line) == ("main", "1 message")
    assert (job.name, job.second_line) == ("job", "1 message, 2 including nested contexts")
    assert participant_words(document, ParticipantPlace(space, "lead")).second_line.startswith("3 messages sent")
    assert participant_words(document, ParticipantPlace(space, "nobody")).second_line == "never seen"


def test_presence_of_who_was_never_seen_or_announced() -> None:
    document = document_of(received(envelope("chat")))
    (known,) = document.analysis.participants.all.values()
    assert presence_word(None, 0) == "never seen"
    assert presence_word(known, 0) == "never announced"


def _reasoning() -> CaptureDocument:
    start = envelope("reasoning/start", {"message": "why"}, id="why-1")
    thought = envelope("reasoning/thought", {"message": "because"}, context="why-1")
    end = envelope("reasoning/conclusion", {"message": "so"}, context="why-1")
    return document_of(received(start), received(thought), received(envelope("chat", sender="files")), received(end))


def test_a_thread_holds_the_steps_of_its_reasoning_alone() -> None:
    subject = Subject(_reasoning(), 1)
    node = sequence_of(subject)
    rows, hidden, outside = thread_rows(subject, node)
    assert node != MAIN
    assert [row.message for row in rows] == [0, 1, 3]
    assert [row.text for row in rows] == ["", "", "so"]
    assert (hidden, outside) == (0, 0)


def test_bytes_around_the_broken_place_are_marked_and_masked() -> None:
    assert error_offset("JSON that is cut after 28 B") == 28
    assert error_offset("no JSON") is None
    rows = hex_rows(b"0123456789", 9)
    assert [row.name for row in rows] == ["0000", "0008"]
    assert [row.value.endswith("  here") for row in rows] == [False, True]
    masked = "".join(row.value for row in hex_rows(SECRET.encode(), None))
    assert "••" in masked
    assert SECRET[20:28].encode().hex(" ") not in masked


def test_what_has_no_lifecycle_says_why() -> None:
    call = tool_call("read_file")
    assert why_no_lifecycle(subject_of(call)).startswith("Only results")
    assert why_no_lifecycle(subject_of(call, tool_result(call))).startswith("Its server declared no lifecycle")


def test_a_log_that_counts_from_its_start_has_no_time_of_day() -> None:
    relative = {"t": 3.7, "data": envelope(ts="2026-01-05T09:00:00Z")}
    document = document_of(relative)
    facts = values_of(envelope_facts(Subject(document, 0)))
    assert facts["Received"] == "at 3.700 s, as the log counts"
    assert ":00:00.000" in facts["Sent"]
    assert "after" not in facts["Sent"]
    assert document.analysis.findings.found.counts() == {}


def test_who_was_here_when_a_live_source_ended_was_last_seen(tmp_path: Path) -> None:
    path = tmp_path / "live.ctxcap"
    writer = CaptureWriter(path, origin={"space": "demo"})
    document = CaptureDocument()
    document.follow_capture(path, name="demo")
    joined = envelope("system/presence", {"event": "join", "participant": {"id": "lead"}}, sender="system:gateway")
    writer.add_frame(json.dumps(joined), direction="in", time_ns=10**18)
    writer.close()
    document.poll()
    lead = ParticipantPlace(*next(iter(document.analysis.participants.all)))
    states = [participant_words(document, lead).state]
    document.end_live()
    states.append(participant_words(document, lead).state)
    document.close()
    assert [state and state.word for state in states] == ["here", "last seen"]
