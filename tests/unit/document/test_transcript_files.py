"""Sessions of several files as one document: their sub-agents, files that come later, and what must not be read."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inspector.analysis.views.latency.latency import latency_ms
from inspector.document.document import CaptureDocument
from inspector.document.source_set import SourceChoice
from inspector.document.summary import summary
from inspector.present.call_facts import request_facts
from inspector.present.message_row import row_content
from inspector.present.subject import Subject
from inspector.sources.transcript_files import members_of

FOLDER = Path(__file__).parents[2] / "data" / "transcripts" / "claude-code"
SESSION = "00000000-0000-4000-8000-000000000001"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return shutil.copytree(FOLDER, tmp_path / "project")


@pytest.fixture
def document() -> Iterator[CaptureDocument]:
    made = CaptureDocument()
    yield made
    made.close()


def opened(document: CaptureDocument, path: Path, **how: Any) -> dict[str, Any]:
    for _ in document.open_log(path, **how):
        pass
    return summary(document, "")


def texts(document: CaptureDocument) -> list[str]:
    capture = document.capture
    return [str(capture.records.payload(row).get("text")) for row in range(len(capture))]


def test_a_file_named_alone_is_that_file_alone(document: CaptureDocument) -> None:
    found = opened(document, FOLDER / f"{SESSION}.jsonl")
    assert (found["records"], found["usage"]["output"], found["sub_agents"]) == (9, 154, 1)


@pytest.mark.parametrize("name", [f"{SESSION}.jsonl", SESSION])
def test_a_session_is_opened_with_its_sub_agents(document: CaptureDocument, name: str) -> None:
    found = opened(document, FOLDER / name, together=True)
    assert (found["records"], found["usage"]["output"], found["sub_agents"]) == (11, 161, 1)
    assert [(one["format"], one["records"]) for one in found["sources"]] == [("claude-code", 9), ("claude-code", 2)]
    contexts = document.analysis.contexts
    (node,) = contexts.tree.alive()
    assert (contexts.label(node), contexts.tree.own[node], contexts.state(node, None)) == (
        "Count source files", 2, "concluded",
    )  # fmt: skip
    times = document.capture.columns["time_ns"].tolist()
    assert times == sorted(times)
    prompt = texts(document).index("Count the files in src.")
    assert document.analysis.correlation.causes(prompt) == [3]
    assert document.capture.string("sender", prompt + 1) == "general-purpose#a0000000000000001"


def test_a_folder_is_opened_with_all_its_sessions(document: CaptureDocument) -> None:
    found = opened(document, FOLDER)
    assert (found["records"], len(found["sources"]), len(found["spaces"])) == (16, 3, 2)


@pytest.mark.parametrize(("name", "records"), [("", 16), (SESSION, 11)])
def test_a_folder_of_sessions_among_several_sources_is_opened_as_alone(
    document: CaptureDocument, tmp_path: Path, name: str, records: int
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}) + "\n")
    for _ in document.open_together([SourceChoice(FOLDER / name), SourceChoice(log)]):
        pass
    found = summary(document, "")
    assert (document.read_errors, found["records"], found["sub_agents"]) == ([], records + 1, 1)


def test_a_copied_session_is_counted_once(document: CaptureDocument, project: Path) -> None:
    before = (project / f"{SESSION}.jsonl").read_text()
    fork = "00000000-0000-4000-8000-000000000009"
    (project / f"{fork}.jsonl").write_text(before.replace(SESSION, fork))
    found = opened(document, project)
    assert (found["usage"]["output"], found["calls"]["tools"], found["sub_agents"]) == (221, 2, 1)


def test_a_sub_agent_that_starts_later_arrives(document: CaptureDocument, project: Path) -> None:
    agents = project / SESSION / "subagents"
    kept = shutil.move(agents, project.parent / "kept")
    for _ in document.open_log(project / f"{SESSION}.jsonl", together=True, follow=True):
        pass
    assert len(document.capture) == 9
    shutil.move(kept, agents)
    until = time.monotonic() + 20
    while len(document.capture) < 11 and time.monotonic() < until:
        document.poll()
        time.sleep(0.01)
    assert len(document.capture) == 11
    with (agents / "agent-a0000000000000001.jsonl").open("a") as file:
        line = json.loads((agents / "agent-a0000000000000001.jsonl").read_text().splitlines()[1])
        file.write(json.dumps({**line, "uuid": "b3", "message": {**line["message"], "id": "m9"}})[:-1])
        file.flush()
        assert not document.poll()  # its end is still being written
        file.write("}\n")
    while len(document.capture) < 12 and time.monotonic() < until:
        document.poll()
        time.sleep(0.01)
    assert (len(document.capture), document.unreadable) == (12, 0)


def test_links_and_paths_lead_nowhere(project: Path) -> None:
    outside = project.parent / "outside"
    shutil.copytree(project / SESSION / "subagents", outside)
    shutil.rmtree(project / SESSION / "subagents")
    (project / SESSION / "subagents").symlink_to(outside)
    (project / "agent-x.jsonl").symlink_to(outside / "agent-a0000000000000001.jsonl")
    found = {member.path.name for member in members_of(project)[0]}
    assert found == {f"{SESSION}.jsonl", "00000000-0000-4000-8000-000000000002.jsonl"}


def test_sidecars_that_name_each_other_end_nowhere(document: CaptureDocument, project: Path) -> None:
    agents = project / SESSION / "subagents"
    first, second = "a0000000000000001", "a0000000000000002"
    copied = (agents / f"agent-{first}.jsonl").read_text("utf-8").replace(first, second)
    (agents / f"agent-{second}.jsonl").write_text(copied.replace('"uuid":"', '"uuid":"b-'))
    for own, other in ((first, second), (second, first)):
        facts = {"agentType": "x", "parentAgentId": other, "description": "../../" * 500}
        (agents / f"agent-{own}.meta.json").write_text(json.dumps(facts))
    opened(document, project / SESSION, together=True)
    tree = document.analysis.contexts.tree
    assert len(tree.alive()) == 2
    assert max(tree.depth(node) for node in tree.alive()) <= 2


@pytest.mark.parametrize("folder", ["", "subagents"])
@pytest.mark.parametrize("agents", [False, True])
def test_files_of_equal_times_open_in_the_order_of_their_paths(tmp_path: Path, folder: str, *, agents: bool) -> None:
    line = (FOLDER / f"{SESSION}.jsonl").read_bytes().splitlines(keepends=True)[0]
    (tmp_path / folder).mkdir(exist_ok=True)
    for number in reversed(range(30)):
        name = f"agent-{number:02}.jsonl" if agents else f"{number * 7 % 30:02}.jsonl"
        path = tmp_path / folder / name
        path.write_bytes(line)
        os.utime(path, (1_790_000_000, 1_790_000_000))
    paths = [member.path for member in members_of(tmp_path / folder)[0]]
    assert len(paths) == 30
    assert paths == sorted(paths)


def test_a_bad_file_beside_is_as_none(document: CaptureDocument, project: Path) -> None:
    (project / SESSION / "subagents" / "agent-a0000000000000001.meta.json").write_text('{"toolUseId":["../../x"]}')
    (project / SESSION / "subagents" / "agent-b.jsonl").write_text("no log at all\n")
    found = opened(document, project / f"{SESSION}.jsonl", together=True)
    assert (found["records"], found["sub_agents"]) == (11, 1)
    assert any("agent-b.jsonl is no log" in sentence for sentence in document.read_errors)


def test_a_folder_without_transcripts_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"kind":"chat","id":"a","from":"b","payload":{}}\n')
    assert members_of(tmp_path) == ([], 0)


def test_the_call_of_a_background_agent_lasts_until_its_end_everywhere(document: CaptureDocument) -> None:
    opened(document, FOLDER / SESSION, together=True)
    capture = document.capture
    (call,) = [row for row in range(len(capture)) if document.analysis.correlation.columns["target"][row]
               and capture.string("kind", row) == "mcp/request"]  # fmt: skip
    answer = int(document.analysis.correlation.columns["answer"][call])
    assert latency_ms(document.analysis, np.array([answer])).tolist() == [59_000.0]
    assert (row_content(document, answer).latency, row_content(document, call).took_ns) == ("59.0 s", 59_000_000_000)
    words = "".join(part.text for one in request_facts(Subject(document, call)) for part in one.parts)
    assert "Result after 59.0 s" in words
