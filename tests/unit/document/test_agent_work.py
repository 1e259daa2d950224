"""Whole sessions, as two coding agents leave them: told once, told whole, and by whom."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import zstandard

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.states.state_pass import MessageState
from inspector.analysis.views.model_context.context_owners import Reader
from inspector.analysis.views.model_context.reconstruction import ModelContext
from inspector.analysis.views.summaries.context_usage import context_usage, usage_by_node
from inspector.document.document import CaptureDocument
from inspector.document.summary import summary
from inspector.present.session_titles import ShownTitles
from tests import agent_work
from tests.builders import document_at, log_file, opened_document
from tests.transcribed import ClaudeSession
from tests.unit.document.test_transcripts import rows


def opened(path: Path) -> CaptureDocument:
    return opened_document(path, together=True)


@pytest.fixture
def claude(tmp_path: Path) -> CaptureDocument:
    return opened(agent_work.write_claude(tmp_path))


@pytest.fixture
def codex(tmp_path: Path) -> CaptureDocument:
    return opened(agent_work.write_codex(tmp_path).parent)


def labels(document: CaptureDocument) -> dict[str, tuple[str, str]]:
    """By context: the path of labels to it, and its state."""
    contexts, tree = document.analysis.contexts, document.analysis.contexts.tree
    return {tree.name[node]: (contexts.label(node), contexts.state(node, None)) for node in tree.alive()}


def sees(document: CaptureDocument, name: str) -> list[int]:
    moment = ModelContext(document.analysis, Reader(int(document.capture.columns["space"][1]), name)).moment_at(
        len(document.capture) - 1
    )
    return [entry.message + 1 for entry in moment.entries()]


def test_a_session_of_claude_code(claude: CaptureDocument) -> None:
    found = summary(claude, "")
    assert (found["messages"], found["unreadable"], found["sub_agents"]) == (148, 0, 3)
    assert found["calls"] == {"tools": 56, "answered": 55, "failed": 2, "unanswered": 1, "rejected": 0}
    assert found["findings"] == {"model-call-failed": 1, "context-full": 1}
    states = claude.analysis.states.states_at(slice(0, 148))
    (stopped,) = np.flatnonzero(states == MessageState.CANCELLED)  # a call during which the user interrupted
    assert claude.capture.records.payload(int(stopped))["params"]["name"] == "Bash"
    assert labels(claude) == {
        "a91c2f7": ("Find roundings of money", "concluded"), "a5510de": ("Look at the web client", "concluded"),
        "a77e9b0": ("Run invoice tests", "concluded"),
    }  # fmt: skip
    tree = claude.analysis.contexts.tree
    assert sorted(tree.path(node) for node in tree.alive()) == ["a77e9b0", "a91c2f7", "a91c2f7/a5510de"]
    assert rows(claude, 'from == "mcp:tracker" && kind == "mcp/response"') == [65]
    assert rows(claude, "repeats") == [22, 24]
    assert rows(claude, 'info == "529 Overloaded, try 2 of 10"') == [59]
    assert rows(claude, 'text == "Look at the web client (in progress)"') == [137]
    assert sees(claude, "claude") == list(range(136, 147))
    assert summary(claude, "")["usage"]["output"] == 4_100


def test_the_session_of_the_pictures_is_this_one(tmp_path: Path) -> None:
    made, kept = agent_work.write_claude(tmp_path).parent, Path(__file__).parents[2] / "data" / "transcripts" / "orders"
    files = sorted(path.relative_to(made) for path in made.rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(kept) for path in kept.rglob("*") if path.is_file())
    assert all((made / name).read_bytes() == (kept / name).read_bytes() for name in files)


def test_threads_of_codex(codex: CaptureDocument) -> None:
    found = summary(codex, "")
    assert (found["messages"], found["unreadable"], found["sub_agents"]) == (68, 0, 1)
    assert found["calls"] == {"tools": 7, "answered": 7, "failed": 1, "unanswered": 0, "rejected": 0}
    assert found["tool_counts"]["exec_command"] == 3
    assert found["findings"] == {"context-full": 1}
    assert list(labels(codex).values()) == [("Run the tests and say what fails.", "concluded")]
    assert rows(codex, 'kind like "codex/*_end" && !repeats') == []
    assert rows(codex, 'kind == "chat" && from == user && !repeats') == [5, 65]
    assert rows(codex, 'context && !repeats && kind == "mcp/request"') == [44]
    assert sees(codex, "codex") == [59, 60]


def test_threads_that_codex_has_compressed(tmp_path: Path) -> None:
    first = agent_work.write_codex(tmp_path)
    for path in [*first.parent.iterdir()]:
        path.with_name(f"{path.name}.zst").write_bytes(zstandard.ZstdCompressor().compress(path.read_bytes()))
        path.unlink()
    document = opened(first.with_name(f"{first.name}.zst"))
    found = summary(document, "")
    assert (found["records"], found["unreadable"], found["sub_agents"]) == (66, 0, 1)
    assert found["calls"] == {"tools": 7, "answered": 7, "failed": 1, "unanswered": 0, "rejected": 0}


def test_what_was_reported_adds_up_by_context(claude: CaptureDocument) -> None:
    analysis, (space,) = claude.analysis, claude.analysis.contexts.spaces
    found, tree = usage_by_node(analysis), claude.analysis.contexts.tree
    for node in (MAIN, *tree.alive()):
        own = context_usage(analysis, space, node)
        assert own is not None
        below = [one for one in tree.alive() if node == MAIN or tree.path(one).startswith(f"{tree.path(node)}/")]
        parts = [part.usage for one in below if (part := context_usage(analysis, space, one)) is not None]
        whole = tuple(map(sum, zip(own.usage, *parts, strict=True)))
        assert (found.spaces[space] if node == MAIN else tuple(found.subtree[node].tolist())) == whole
    main = context_usage(analysis, space, MAIN)
    assert main is not None
    assert found.main == {space: main.usage}


def test_sessions_are_called_by_their_title_else_by_the_first_prompt(
    claude: CaptureDocument, codex: CaptureDocument
) -> None:
    for document, title in ((claude, "Rounding of order totals"), (codex, "Pages of the report should be longer.")):
        (space,) = document.analysis.contexts.spaces
        assert ShownTitles(document.capture).session_title(space) == title
    session = ClaudeSession()
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aaaa"}}
    words = {"type": "text", "text": "What is\nthis?"}
    session.add("user", message={"role": "user", "content": [words, picture]})
    document = document_at(log_file(b"".join(json.dumps(one).encode() + b"\n" for one in session.records)))
    (space,) = document.analysis.contexts.spaces
    assert ShownTitles(document.capture).session_title(space) == "What is this?"


def test_conversations_with_a_model_are_shown_by_their_first_prompt() -> None:
    kitchen = Path(__file__).parents[3] / "inspector" / "formats" / "mitmproxy" / "samples" / "kitchen.flow"
    document = opened(kitchen)
    titles, names = ShownTitles(document.capture), document.capture.strings
    spaces = [space for space in document.analysis.contexts.spaces if names[space].startswith("conversation-")]
    assert [titles.space_title(space) for space in spaces] == ["Heat the oven."] * 2
    assert [titles.session_title(space) for space in spaces] == ["", ""], "it is no title of a session"
