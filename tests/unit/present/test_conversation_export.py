"""A conversation as a page: HTML or Markdown by the name, masked, escaped, with every card."""

from __future__ import annotations

import html
import html.parser
import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from inspector.engine.engine import Engine
from inspector.engine.opening import Target
from inspector.engine.requests.conversation import (
    CopyCards,
    FindInConversation,
    FindQuery,
    OutlineConversation,
    OutlineOptions,
    PictureBytes,
)
from inspector.present.conversation.markdown import parse_markdown
from inspector.startup.program import app
from tests import hostile
from tests.builders import envelope, lines_of, log_file, tool_call, tool_result
from tests.samples import FORMAT_SAMPLES, sample

SESSION = sample("formats/claude-code.jsonl")
SCRIPT = '<script>alert("x")</script><img src=x onerror=y>'


def exported(log: Path, target: Path, *more: str) -> str:
    """Exports a log as a conversation, and returns the file's text."""
    result = CliRunner().invoke(app, ["export", str(log), "--format", "conversation", "-o", str(target), *more])
    assert result.exit_code == 0, result.output
    return target.read_text()


class Tags(html.parser.HTMLParser):
    """Collects tags; checks that they nest."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.add(tag)
        if tag not in ("meta", "img", "br", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", ["claude-code.jsonl", "a2a.jsonl", "acp.jsonl", "codex.jsonl"])
def test_a_page_is_well_formed_html(name: str, tmp_path: Path) -> None:
    tags = Tags()
    tags.feed(exported(FORMAT_SAMPLES[name], tmp_path / "out.html"))
    assert not tags.open
    assert tags.seen.isdisjoint({"script", "iframe", "object", "link", "form"})


def test_the_name_decides_between_html_and_markdown(tmp_path: Path) -> None:
    page, text = exported(SESSION, tmp_path / "out.html"), exported(SESSION, tmp_path / "out.md")
    assert page.startswith("<!DOCTYPE html>")
    for shown in (page, text):
        assert "Why does the total of an order differ from its lines?" in shown
        assert "Two places" in shown
    assert "\n## user" in text
    assert "\n**Grep** `total in src` (" in text
    some = exported(SESSION, tmp_path / "some.md", "-Y", 'tool == "Grep"')
    assert "Grep" in some
    assert "## user" not in some


def test_text_from_the_wire_is_escaped_and_masked(tmp_path: Path) -> None:
    ask = tool_call("run", id="q", arguments={"command": SCRIPT, "api_key": "hunter2hunter2"})
    chat = envelope("chat", {"text": f"{SCRIPT}\n\n[x](javascript:alert(1)) Bearer abcdef.ghijkl"})
    log = log_file(lines_of(chat, ask, tool_result(ask, f"{SCRIPT}\npassword=hunter2hunter2"), "{torn"))
    for name in ("out.html", "out.md"):
        shown = exported(log, tmp_path / name)
        assert "hunter2" not in shown
        assert "abcdef.ghijkl" not in shown
        assert 'href="javascript:' not in shown
        assert "torn" in shown
    assert "<script" not in exported(log, tmp_path / "again.html")
    result = CliRunner().invoke(
        app, ["export", str(log), "--format", "conversation", "-o", str(tmp_path / "x.html"), "--unmasked"]
    )
    assert result.exit_code == 2 or "always masks" in result.output


@pytest.mark.sweep
@pytest.mark.parametrize("case", hostile.CASES)
def test_hostile_logs_have_a_page(case: str, tmp_path: Path) -> None:
    log = hostile.write(case, tmp_path)
    for name in ("out.html", "out.md"):
        assert exported(log, tmp_path / name)


@pytest.fixture
def engine() -> Engine:
    engine = Engine()
    _, steps = engine.open([Target(SESSION)])
    engine.read(steps)
    return engine


def test_find_copy_and_pictures(engine: Engine) -> None:
    outline = engine.answer_request(1, OutlineConversation(OutlineOptions(unfolds_all=True)))
    (found,) = engine.answer_request(1, FindInConversation(FindQuery("List every place")))[:1] or (None,)
    assert found is not None
    folded = engine.answer_request(1, OutlineConversation())
    assert folded.kinds[folded.items[found]] == 4, "a hit in a folded sub-agent is on its card"
    copied = engine.answer_request(1, CopyCards(outline.refs(0, len(outline))))
    assert parse_markdown(copied)
    assert "### Sub-agent: Find roundings" in copied
    pictures = [engine.answer_request(1, PictureBytes(message)) for message in range(len(outline.items))]
    assert [len(data) for data in pictures if data] == [90]
    engine.close()


@pytest.mark.parametrize("name", ["out.html", "out.md"])
def test_a_page_leaves_out_records_of_programs_and_counts_them(name: str, tmp_path: Path) -> None:
    text = exported(FORMAT_SAMPLES["codex.jsonl"], tmp_path / name)
    assert "of programs left out" in text
    assert "records of codex-cli" not in text


FOLDER = "/home/ada/shop"
REMINDER = "<system-reminder>\nNever mention the weather.\n</system-reminder>"


def _session_line(kind: str, number: int, content: object, **more: object) -> str:
    return json.dumps({
        "type": kind, "uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None, "sessionId": "s",
        "cwd": FOLDER, "gitBranch": "cents", "version": "2.1.31", "timestamp": f"2026-03-04T09:00:{number:02d}.000Z",
        "message": {"role": kind, "content": content, **more},
    })  # fmt: skip


@pytest.fixture
def shop_session(tmp_path: Path) -> Path:
    """A session whose texts have reminders, thoughts and absolute paths."""
    usage = {"id": "msg_1", "model": "claude-opus-4-5", "usage": {"input_tokens": 1_000, "output_tokens": 500}}
    calls = [
        {"type": "thinking", "thinking": f"The file {FOLDER}/src/a.py comes first.\n\nThen the tests."},
        {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": f"cat {FOLDER}/src/a.py {FOLDER}"}},
        {
            "type": "tool_use", "id": "t2", "name": "Write",
            "input": {"file_path": f"{FOLDER}/src/b.py", "content": f"root = '{FOLDER}/src'"},
        },
    ]  # fmt: skip
    results = [
        {"type": "tool_result", "tool_use_id": "t1", "content": f"see {FOLDER}.old/x ~ /home/ada/.notes\n{REMINDER}"},
        {"type": "tool_result", "tool_use_id": "t2", "content": f"File created at: {FOLDER}/src/b.py"},
    ]
    lines = (
        _session_line("user", 0, f"Why is {FOLDER}/src/a.py off by a cent?"),
        _session_line("user", 1, f"Look at the tests too.\n\n{REMINDER}"),
        _session_line("assistant", 2, calls, **usage),
        _session_line("user", 3, results),
    )
    log = tmp_path / "3b8a2a8e.jsonl"
    log.write_text("\n".join(lines) + "\n")
    return log


@pytest.mark.parametrize("name", ["out.html", "out.md"])
def test_a_page_begins_with_the_ask_and_the_facts_of_the_session(name: str, shop_session: Path, tmp_path: Path) -> None:
    text = exported(shop_session, tmp_path / name)
    title = "Why is src/a.py off by a cent?"
    assert f"# {title}\n" in text or f"<h1>{title}</h1>" in text
    for fact in (
        "Claude Code session 2.1.31",
        "claude-opus-4-5",
        "4 Mar 2026",
        "3 s long",
        "branch cents",
        "1.5k tokens",
    ):
        assert fact in text
    assert text.count("Exported from 3b8a2a8e.jsonl.") == 1


@pytest.mark.parametrize("name", ["out.html", "out.md"])
def test_a_page_names_the_folder_once_and_other_paths_relative_to_it(
    name: str, shop_session: Path, tmp_path: Path
) -> None:
    text = html.unescape(exported(shop_session, tmp_path / name))
    assert text.count(f"Folder {FOLDER}") == 1
    assert "cat src/a.py ." in text
    if name.endswith("html"):
        assert "see ~/shop.old/x ~ ~/.notes" in text, "longer names and the home stay apart from the folder"
    assert f"root = '{FOLDER}/src'" in text, "contents of files are never changed"
    assert text.count(FOLDER) == 2


@pytest.mark.parametrize("name", ["out.html", "out.md"])
def test_a_page_has_each_thought_once_and_no_reminders(name: str, shop_session: Path, tmp_path: Path) -> None:
    text = exported(shop_session, tmp_path / name)
    for shown in ("comes first.", "Then the tests.", "Look at the tests too."):
        assert text.count(shown) == 1
    assert "weather" not in text
    assert "reminder of 28 characters left out" in text
    assert "File created at" not in text, "the change is in sight"


def test_markdown_lists_the_steps_of_a_fold(tmp_path: Path) -> None:
    ask = [_session_line("user", 0, "Read all.")]
    for number in range(1, 13, 2):
        call = {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {"file_path": f"{FOLDER}/{number}.py"}}
        ask.append(_session_line("assistant", number, [call]))
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "one line\nand two"}
        ask.append(_session_line("user", number + 1, [result]))
    log = tmp_path / "reads.jsonl"
    log.write_text("\n".join(ask) + "\n")
    text = exported(log, tmp_path / "out.md")
    assert "\n**Read** `1.py` (2 lines, 1.0 s)\n\n*5 more steps: 5 reads*\n\n- **Read** `3.py` (2 lines, 1.0 s)" in text


def test_each_text_of_a_sub_agent_is_once_and_under_its_speaker(tmp_path: Path) -> None:
    data = Path(__file__).parents[2] / "data/transcripts/claude-code"
    text = exported(data, tmp_path / "out.md")
    spoken = [line.split(",")[0] for line in text.splitlines() if line.startswith("## ")]
    agent = "general-purpose: Count source files"
    team = ["## team-lead", "## audit-A"]
    assert spoken[:6] == ["## user", "## claude", f"## claude to {agent}", f"## {agent}", *team]
    assert [text.count(words) for words in ("Count the files in src.", "There are 3 files.", "Use an agent.")] == [
        1,
        1,
        1,
    ]
    assert text.index("## claude,") < text.index("Use an agent.")
    assert text.index("## audit-A") < text.index("SendMessage")
    assert exported(data, tmp_path / "out.html").count("Count the files in src.") == 1


def test_a_message_of_a_teammate_is_under_its_name(tmp_path: Path) -> None:
    told = '<teammate-message teammate_id="audit-A" summary="s">\nThree bugs.\n</teammate-message>'
    lines = [
        _session_line("user", 0, "Review."),
        _session_line("user", 1, told),
        _session_line("user", 2, [{"type": "text", "text": told.replace("audit-A", "audit-B")}]),
        _session_line("assistant", 3, [{"type": "text", "text": "Thanks."}]),
    ]
    log = tmp_path / "team.jsonl"
    log.write_text("\n".join(lines) + "\n")
    text = exported(log, tmp_path / "out.md")
    spoken = [line.split(",")[0] for line in text.splitlines() if line.startswith("## ")]
    assert spoken == ["## user", "## audit-A", "## audit-B", "## claude"]


@pytest.mark.parametrize(("more", "count"), [("", 1), ("\\nAnd 2 folders.", 1), (" And 2 folders.", 2)])
def test_a_result_with_more_than_the_last_answer_keeps_the_rest(more: str, count: int, tmp_path: Path) -> None:
    data = shutil.copytree(Path(__file__).parents[2] / "data/transcripts/claude-code", tmp_path / "data")
    for file in data.glob("*1.jsonl"):
        text = file.read_text("utf-8").replace('"isAsync":true,"status":"async_launched"', '"status":"completed"')
        text = text.replace("Async agent launched. agentId: a0000000000000001", f"There are 3 files.{more}")
        # Answered at once, without a notification later.
        file.write_text("".join(line for line in text.splitlines(True) if "task-notification" not in line))
    text = exported(data, tmp_path / "out.md")
    assert text.count("And 2 folders.") == (1 if more else 0)
    assert text.count("There are 3 files.") == count


def test_a_filter_keeps_prompt_and_result_of_a_sub_agent(tmp_path: Path) -> None:
    data = Path(__file__).parents[2] / "data/transcripts/claude-code"
    text = exported(data, tmp_path / "out.md", "-Y", 'kind == "mcp/request" || kind == "mcp/response"')
    assert text.count("Count the files in src.") == 1
    assert text.count("There are 3 files.") == 1
