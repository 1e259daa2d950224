"""Sessions of agents on this machine: found where their programs write them, told from the ends of their files."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from inspector.cli.commands import app
from inspector.document.session_titles import title_of_session
from inspector.present.message_row import row_content
from inspector.sources.agent_sessions import files as files_module
from inspector.sources.agent_sessions.files import END_BYTES, read_ends
from inspector.sources.agent_sessions.lookup import SessionNameError, find_sessions, session_named
from inspector.sources.agent_sessions.session import AgentSession, Lookup
from tests.builders import document_at, opened_document

ONE, TWO = "11111111-2222-4333-8444-555555555555", "11111111-9999-4333-8444-666666666666"
THREAD = "019b04ae-b1c6-7c72-a134-a4c2de66058c"
CHILD = "019b04af-0000-7c72-a134-a4c2de66058d"
GRANDCHILD = "019b04b0-0000-7c72-a134-a4c2de66058e"


class Home:
    """Folders as the agents' programs make them."""

    def __init__(self, folder: Path) -> None:
        self.claude, self.codex = folder / "claude", folder / "codex"
        self.folder = folder
        self.environment = {
            "CLAUDE_CONFIG_DIR": str(self.claude), "CODEX_HOME": str(self.codex), "HOME": str(folder / "home"),
        }  # fmt: skip

    def write(self, path: str, *records: dict[str, Any], age_s: float = 3600) -> Path:
        return _written(self.folder / "home" / path, records, age_s)

    def find(self, newest: int = 500) -> Lookup:
        return find_sessions(self.environment, newest)

    def session(self) -> AgentSession:
        [found] = self.find().sessions
        return found

    def write_claude(self, name: str, *records: dict[str, Any], age_s: float = 3600) -> Path:
        return _written(self.claude / "projects" / "-work-demo" / name, records, age_s)

    def write_codex(self, thread: str, *records: dict[str, Any], folder: str = "sessions/2026/01/02") -> Path:
        return _written(self.codex / folder / f"rollout-2026-01-02T03-04-05-{thread}.jsonl", records, 3600)


def _written(path: Path, records: tuple[dict[str, Any], ...], age_s: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    then = time.time() - age_s
    os.utime(path, (then, then))
    return path


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def prompt(text: object, **more: object) -> dict[str, Any]:
    return {"type": "user", "sessionId": ONE, "cwd": "/work/demo", "message": {"role": "user", "content": text}, **more}


def answer(model: str) -> dict[str, Any]:
    return {"type": "assistant", "sessionId": ONE, "message": {"model": model, "content": []}}


def meta(thread: str, **more: object) -> dict[str, Any]:
    return {"timestamp": "2026-01-02T03:04:05Z", "type": "session_meta", "payload": {"id": thread, "cwd": "/w", **more}}


def test_the_first_prompt_of_a_person_is_shown_and_the_model_that_answered_last(home: Home) -> None:
    home.write_claude(
        f"{ONE}.jsonl",
        {"type": "file-history-snapshot"},
        prompt("Count the files"),
        answer("opus"),
        prompt([{"type": "text", "text": "<system-reminder>be calm"}, {"type": "text", "text": "Now the folders"}]),
        answer("sonnet"),
        answer("<synthetic>"),
        prompt([{"type": "tool_result", "content": "no prompt"}]),
        prompt("hidden", isMeta=True),
        prompt("This session is being continued from", isCompactSummary=True),
        prompt("told to a sub-agent", isSidechain=True),
        prompt("<command-name>/exit</command-name>"),
    )
    found = home.session()
    assert (found.program, found.identifier, found.project) == ("claude-code", ONE, "/work/demo")
    assert (found.prompt, found.model, found.title, found.running) == ("Count the files", "sonnet", "", False)


def test_a_session_that_was_only_given_a_command_shows_it(home: Home) -> None:
    home.write_claude(f"{ONE}.jsonl", prompt("<command-name>/init</command-name>\n<command-args>here</command-args>"))
    assert home.session().prompt == "/init here"


def test_the_users_title_goes_before_the_programs(home: Home) -> None:
    titles = ({"type": "ai-title", "aiTitle": "Counting"}, {"type": "custom-title", "customTitle": "Mine"})
    home.write_claude(f"{ONE}.jsonl", *titles, {"type": "ai-title", "aiTitle": "Later"})
    assert home.session().title == "Mine"


def test_sub_agents_count_to_their_session_wherever_their_files_lie(home: Home) -> None:
    plain = home.write_claude(f"{ONE}.jsonl", prompt("Go"))
    beside = home.write_claude("agent-0c4c3cf8.jsonl", prompt("Part", isSidechain=True))
    below = home.write_claude(f"{ONE}/subagents/workflows/run/agent-a1.jsonl", prompt("Other part"), age_s=600)
    home.write_claude(f"{ONE}/subagents/agent-a1.meta.json")
    home.write_claude("agent-ffff.jsonl", prompt("Nobody's", sessionId="gone"))
    found = home.session()
    assert found.sub_agents == 2
    assert found.size == sum(one.stat().st_size for one in (plain, beside, below))
    assert found.modified == below.stat().st_mtime


def test_a_session_runs_while_its_process_lives(home: Home) -> None:
    for name in (ONE, TWO):
        home.write_claude(f"{name}.jsonl", prompt("Go"))
    gone = {"pid": 2**22 + 12345, "sessionId": TWO}
    for place, one in enumerate(({"pid": os.getpid(), "sessionId": ONE}, gone, {"pid": "?"}, {"pid": -1})):
        _written(home.claude / "sessions" / f"{place}.json", (one,), 0)
    assert {one.identifier: one.running for one in home.find().sessions} == {ONE: True, TWO: False}


def test_a_file_written_just_now_is_one_of_a_session_that_runs(home: Home) -> None:
    home.write_claude(f"{ONE}.jsonl", prompt("Go"), age_s=2)
    assert home.session().running


def test_a_codex_thread_tells_of_its_first_meta_and_its_first_prompt(home: Home) -> None:
    home.write_codex(
        THREAD,
        meta(THREAD, source="cli"),
        meta("forked-from", cwd="/other"),
        {"type": "turn_context", "payload": {"model": "gpt-a"}},
        {"type": "event_msg", "payload": {"type": "user_message", "message": "List them"}},
        {"type": "turn_context", "payload": {"model": "gpt-b"}},
        {"type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"text": "Sort them"}]}},
        {
            "type": "response_item",
            "payload": {"type": "message", "role": "user", "content": [{"text": "<environment_context>"}]},
        },
    )
    found = home.session()
    assert (found.program, found.identifier, found.project) == ("codex", THREAD, "/w")
    assert (found.prompt, found.model, found.sub_agents) == ("List them", "gpt-b", 0)


def test_spawned_threads_count_to_the_thread_at_the_top(home: Home) -> None:
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": THREAD, "depth": 1}}}
    home.write_codex(THREAD, meta(THREAD))
    home.write_codex(CHILD, meta(CHILD, source=spawn), folder="sessions/2026/01/03")
    home.write_codex(GRANDCHILD, meta(GRANDCHILD, source={"subagent": "other"}, parent_thread_id=CHILD))
    lookup = home.find()
    assert [(one.identifier, one.sub_agents) for one in lookup.sessions] == [(THREAD, 2)]
    assert lookup.total == 1


def test_parents_in_a_circle_are_nobodys_sub_agents(home: Home) -> None:
    for child, parent in ((CHILD, GRANDCHILD), (GRANDCHILD, CHILD)):
        source = {"subagent": {"thread_spawn": {"parent_thread_id": parent}}}
        home.write_codex(child, meta(child, source=source))
    assert home.find().sessions == []


def test_of_a_thread_that_was_compressed_too_the_plain_file_is_read(home: Home) -> None:
    plain = home.write_codex(THREAD, meta(THREAD, cwd="/plain"))
    packed = home.codex / "archived_sessions" / f"{plain.name}.zst"
    packed.parent.mkdir()
    packed.write_bytes(zstandard.compress(json.dumps(meta(THREAD, cwd="/packed")).encode() + b"\n"))
    assert home.session().project == "/plain"
    plain.unlink()
    assert home.session().project == "/packed"


def test_the_newest_are_listed_and_the_others_counted(home: Home) -> None:
    for number in range(5):
        home.write_claude(f"s{number}.jsonl", prompt("Go"), age_s=1000 - number)
    lookup = home.find(newest=2)
    assert [one.identifier for one in lookup.sessions] == ["s4", "s3"]
    assert lookup.total == 5


def test_a_session_is_found_by_the_beginning_of_its_id(home: Home) -> None:
    for name in (ONE, TWO):
        home.write_claude(f"{name}.jsonl", prompt("Go"))
    assert session_named(ONE[:13], home.environment).identifier == ONE
    with pytest.raises(SessionNameError, match="2 sessions begin with '11111111'"):
        session_named("11111111", home.environment)
    with pytest.raises(SessionNameError, match=r"No session begins with '111' \(at least 4"):
        session_named("111", home.environment)
    with pytest.raises(SessionNameError, match=r"Looked in .*claude and .*codex"):
        session_named("beef", home.environment)


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs links")
def test_links_are_never_followed(home: Home, tmp_path: Path) -> None:
    secret = _written(tmp_path / "elsewhere" / "x.jsonl", (prompt("not yours"),), 0)
    home.write_claude(f"{ONE}.jsonl", prompt("Go"))
    project = home.claude / "projects" / "-work-demo"
    (project / "y.jsonl").symlink_to(secret)
    (home.claude / "projects" / "linked").symlink_to(secret.parent)
    (project / ONE).mkdir()
    (project / ONE / "subagents").symlink_to(secret.parent)
    found = home.session()
    assert (found.identifier, found.sub_agents) == (ONE, 0)


def test_pipes_and_folders_named_as_sessions_stop_nothing(home: Home) -> None:
    project = home.write_claude(f"{ONE}.jsonl", prompt("Go")).parent
    os.mkfifo(project / "pipe.jsonl")
    (project / "folder.jsonl").mkdir()
    assert home.session().identifier == ONE


def test_a_folder_of_endless_entries_ends_the_lookup_and_says_so(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30):
        home.write_claude(f"s{number}.jsonl", prompt("Go"))
    listing = files_module.Listing
    monkeypatch.setattr("inspector.sources.agent_sessions.lookup.Listing", lambda: listing(10))
    lookup = home.find()
    assert 0 < len(lookup.sessions) <= 10
    assert "the rest was not looked at" in lookup.notices[0]


@pytest.mark.parametrize("length", [END_BYTES - 1, END_BYTES, END_BYTES + 1, 2 * END_BYTES, 3 * END_BYTES + 7])
def test_the_ends_of_a_file_are_whole_lines_and_overlap_nowhere(tmp_path: Path, length: int) -> None:
    lines = [f"{number:09}" for number in range(length // 10)]
    (tmp_path / "f").write_text("\n".join(lines) + "\n" + "x" * (length % 10))
    head, tail = read_ends(str(tmp_path / "f"))
    read = [*head, *tail]
    expected = [line.encode() for line in lines] + ([b"x" * (length % 10)] if length % 10 else [])
    assert read[0] == expected[0]
    assert read[-1] == expected[-1]
    assert read == (expected if len(read) == len(expected) else expected[: len(head)] + expected[-len(tail) :])
    assert sum(map(len, read)) <= 2 * END_BYTES


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "message", "payload", "content", "source", "subagent", "text"]), inner
        )
    ),
    max_leaves=12,
)


@given(lines=st.lists(_JSON.map(json.dumps) | st.text(max_size=20), max_size=6))
def test_whatever_stands_in_a_file_it_is_a_session_or_a_sub_agent(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    home = Home(tmp_path_factory.mktemp("home"))
    for path in (home.write_claude(f"{ONE}.jsonl"), home.write_codex(THREAD)):
        path.write_text("\n".join(lines), encoding="utf-8", errors="replace")
    assert "claude-code" in {one.program for one in home.find().sessions}


def test_the_command_lists_them_with_secrets_masked(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in home.environment.items():
        monkeypatch.setenv(name, value)
    home.write_claude(f"{ONE}.jsonl", prompt("use sk-ant-api03-abcdefghijklmnopqrstuvwxyz\x1b[2J"), answer("opus"))
    shown = CliRunner().invoke(app, ["sessions"]).stdout
    assert "11111111-2222  /work/demo" in shown
    assert "abcdefghij" not in shown
    assert "\x1b" not in shown
    [found] = json.loads(CliRunner().invoke(app, ["sessions", "--json"]).stdout)
    assert (found["id"], found["format"], found["model"], found["sub_agents"]) == (ONE, "claude-code", "opus", 0)
    assert "abcdefghij" not in found["prompt"]


def test_an_empty_list_says_where_it_looked(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in home.environment.items():
        monkeypatch.setenv(name, value)
    shown = CliRunner().invoke(app, ["sessions"]).stdout
    assert shown.startswith(f"There are no sessions of agents in {home.claude} or {home.codex} or ")


def test_sessions_of_gemini_in_both_layouts(home: Home) -> None:
    said = {"id": "1", "timestamp": "t", "type": "user", "content": [{"text": "Look"}]}
    answered = {"id": "2", "timestamp": "t", "type": "gemini", "content": "", "model": "gemini-3"}
    chats = ".gemini/tmp/hash/chats"
    home.write(f"{chats}/session-2026-01-02T03-04-0123abcd.jsonl", {"sessionId": "0123abcd-1"}, said, answered)
    agent = home.write(f"{chats}/0123abcd-1/a.jsonl", said, age_s=600)
    home.write(f"{chats}/session-2026-01-02T03-04-4567abcd.json", {"sessionId": "x", "messages": [said, answered]})
    home.write(f"{chats}/logs.json", {})
    new, old = home.find().sessions
    assert (new.program, new.identifier, new.prompt, new.model) == ("gemini-cli", "0123abcd", "Look", "gemini-3")
    assert (new.sub_agents, new.modified, new.project) == (1, agent.stat().st_mtime, "hash")
    assert (old.identifier, old.prompt, old.model) == ("4567abcd", "Look", "gemini-3")
    assert session_named("4567", home.environment).path == old.path


def test_sessions_of_pi_and_of_programs_built_on_it(home: Home) -> None:
    start = {"type": "session", "version": 3, "id": ONE, "timestamp": "t", "cwd": "/w"}
    asked = {"type": "message", "message": {"role": "user", "content": [{"type": "text", "text": "Look"}]}}
    answered = {"type": "message", "message": {"role": "assistant", "content": [], "model": "m"}}
    home.write(f".pi/agent/sessions/--w--/2026_{ONE}.jsonl", start, asked, answered)
    home.write(f".omp/agent/sessions/-w/2026_{TWO}.jsonl", {"type": "title", "title": "Kites"}, start, age_s=7200)
    home.write(f".omp/agent/sessions/-w/2026_{TWO}/scout.jsonl", start, age_s=7100)
    home.write(f".openclaw/agents/main/sessions/{THREAD}.jsonl", start, age_s=9000)
    home.write(".openclaw/agents/main/sessions/sessions.json", age_s=9000)
    one, two, three = home.find().sessions
    assert (one.program, one.identifier, one.project, one.prompt, one.model) == ("pi", ONE, "/w", "Look", "m")
    assert (two.identifier, two.title, two.sub_agents, three.identifier) == (TWO, "Kites", 1, THREAD)


@pytest.mark.skipif(sys.platform != "linux", reason="the folder of VS Code differs")
def test_tasks_of_cline_and_its_relatives(home: Home) -> None:
    storage, history = ".config/Code/User/globalStorage", "api_conversation_history.json"
    home.write(f"{storage}/saoudrizwan.claude-dev/tasks/17/{history}")
    listed = home.write(f"{storage}/saoudrizwan.claude-dev/state/taskHistory.json")
    listed.write_text(json.dumps([{"id": "17", "task": "Look", "modelId": "m", "cwdOnTaskInitialization": "/w"}]))
    home.write(f"{storage}/rooveterinaryinc.roo-cline/tasks/r1/{history}", age_s=7200)
    home.write(f"{storage}/rooveterinaryinc.roo-cline/tasks/r1/history_item.json", {"id": "r1", "task": "Go on"})
    one, two = home.find().sessions
    assert (one.program, one.identifier, one.prompt, one.model, one.project) == ("cline", "17", "Look", "m", "/w")
    assert (two.identifier, two.prompt) == ("r1", "Go on")


@pytest.mark.skipif(sys.platform == "win32", reason="the folder differs")
def test_sessions_of_goose_in_its_database_and_in_files(home: Home) -> None:
    folder = ".local/share/goose/sessions"
    home.write(f"{folder}/20250101_1.jsonl", {"working_dir": "/w", "description": "Old"}, age_s=1)
    with closing(sqlite3.connect(home.folder / "home" / folder / "sessions.db")) as made:
        made.execute("CREATE TABLE sessions (id, working_dir, description, name, created_at, updated_at)")
        made.execute("CREATE TABLE messages (id INTEGER, session_id, role, content_json, created_timestamp)")
        made.execute("INSERT INTO sessions VALUES ('s1', '/v', '', 'Kites', '2026-05-01', '2026-05-01 10:00:00')")
        made.execute("""INSERT INTO messages VALUES (1, 's1', 'user', '[{"type":"text","text":"Look"}]', 1777629601)""")
        made.commit()
    old, new = home.find().sessions
    assert (old.program, old.identifier, old.project, old.title) == ("goose", "20250101_1", "/w", "Old")
    assert (new.identifier, new.project, new.title) == ("s1", "/v", "Kites")
    document = document_at(new.path)
    assert (document.format, title_of_session(document.capture), len(document.capture)) == ("goose", "Kites", 2)


def test_sessions_of_amp_cursor_and_droid(home: Home) -> None:
    home.write(".local/share/amp/threads/T-1.json", {"id": "T-1", "messages": []})
    home.write(f".cursor/projects/w/agent-transcripts/{ONE}/{ONE}.jsonl", age_s=7200)
    asked = {"type": "message", "message": {"role": "user", "content": [{"type": "text", "text": "Look"}]}}
    start = {"type": "session_start", "title": "Kites", "cwd": "/w"}
    home.write(f".factory/sessions/-w/{TWO}.jsonl", start, asked, age_s=9000)
    one, two, three = home.find().sessions
    assert (one.program, one.identifier) == ("amp", "T-1")
    assert (two.program, two.identifier, two.project) == ("cursor-agent", ONE, "w")
    assert (three.program, three.title, three.project, three.prompt) == ("factory-droid", "Kites", "/w", "Look")


def test_sessions_of_kimi_code_count_their_agents_and_open_with_them(home: Home) -> None:
    folder, begun = ".kimi-code/sessions/wd/session-1", {"type": "metadata", "protocol_version": "1.4"}
    call = {"type": "tool.call", "toolCallId": "c1", "name": "Agent",
            "args": {"description": "Count loaves", "prompt": "Count.", "subagent_type": "coder"}}  # fmt: skip
    told = {"type": "tool.result", "toolCallId": "c1", "result": {"output": "agent_id: agent-0\nstatus: completed\n"}}
    said = {"type": "content.part", "part": {"type": "text", "text": "Nine."}}
    own = [{"type": "context.append_loop_event", "event": one, "time": at} for at, one in ((1000, call), (4000, told))]
    home.write(f"{folder}/agents/main/wire.jsonl", begun, {"type": "config.update", "cwd": "/w", "time": 900}, *own)
    below = {"type": "context.append_loop_event", "event": said, "time": 2000}
    home.write(f"{folder}/agents/agent-0/wire.jsonl", begun, below)
    one = home.session()
    assert (one.program, one.identifier, one.project, one.sub_agents) == ("kimi", "session-1", "/w", 1)
    for path in (one.path, one.path.parents[2]):
        document = opened_document(path, together=True)
        names = {content.sender for content in map(partial(row_content, document), range(len(document.capture)))}
        assert "coder: Count loaves" in names
        assert document.capture.strings.find("session-1")


def test_sessions_of_qwen_code(home: Home) -> None:
    asked = {"type": "user", "cwd": "/w", "message": {"role": "user", "parts": [{"text": "Look"}]}}
    answered = {"type": "assistant", "model": "qwen3", "message": {"role": "model", "parts": []}}
    titled = {"type": "system", "systemPayload": {"customTitle": "Kites"}}
    home.write(f".qwen/projects/-w/chats/{ONE}.jsonl", asked, answered, titled)
    home.write(f".qwen/projects/-w/subagents/{ONE}/agent-a1.jsonl", asked)
    one = home.session()
    assert (one.program, one.identifier, one.project, one.prompt) == ("qwen-code", ONE, "/w", "Look")
    assert (one.model, one.title, one.sub_agents) == ("qwen3", "Kites", 1)
    assert len(opened_document(one.path, together=True).capture.sources) == 2


def test_sessions_of_copilot_in_both_layouts(home: Home) -> None:
    start = {"type": "session.start", "data": {"sessionId": ONE, "context": {"cwd": "/w"}}}
    asked = {"type": "user.message", "data": {"content": "Go on"}}
    change = {"type": "session.model_change", "data": {"newModel": "gpt-x"}}
    home.write(
        f".copilot/session-state/{ONE}/events.jsonl", start, change, asked, {"type": "subagent.started", "data": {}}
    )
    home.write(f".copilot/session-state/{ONE}/workspace.yaml")
    home.write(f".copilot/session-state/{TWO}.jsonl", asked, {"type": 1}, age_s=7200)
    one, two = home.find().sessions
    assert (one.identifier, one.project, one.prompt, one.model, one.sub_agents) == (ONE, "/w", "Go on", "gpt-x", 1)
    assert (two.program, two.identifier, two.prompt) == ("copilot-cli", TWO, "Go on")


def test_sessions_of_opencode_in_both_layouts(home: Home) -> None:
    data = home.folder / "home" / ".local" / "share" / "opencode"
    kept = ".local/share/opencode/storage/session/prj"
    home.write(f"{kept}/ses_a.json", {"id": "ses_a", "directory": "/old", "title": "Old"})
    home.write(f"{kept}/ses_b.json", {"id": "ses_b", "parentID": "ses_a", "title": "Part"})
    with sqlite3.connect(data / "opencode.db") as made:
        made.execute("CREATE TABLE session (id, parent_id, directory, title, time_updated)")
        rows = [("ses_1", None, "/w", "New", 2_000), ("ses_2", "ses_1", "/w", "Part", 1_000), (7, None, 1, 2, "x")]
        made.executemany("INSERT INTO session VALUES (?,?,?,?,?)", rows)
    made.close()
    found = {one.identifier: one for one in home.find().sessions}
    assert found.keys() == {"ses_1", "ses_a"}
    one, old = found["ses_1"], found["ses_a"]
    assert (one.path, one.project, one.title, one.sub_agents, one.modified) == (
        data / "opencode.db" / "ses_1",
        "/w",
        "New",
        1,
        2.0,
    )
    assert (old.project, old.title, old.sub_agents) == ("/old", "Old", 1)
    (data / "opencode.db").write_bytes(b"SQLite format 3\0" + b"x" * 900)
    assert [notice for notice in home.find().notices if "opencode.db" in notice]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere its folder is another")
def test_chats_of_vs_code_in_both_layouts(home: Home) -> None:
    where = ".config/Code/User/workspaceStorage/hash"
    home.write(f"{where}/workspace.json", {"folder": "file:///work/my%20demo"})
    asked = {"message": {"text": 'Say "hi"', "parts": []}, "modelId": "copilot/m"}
    titled = {"kind": 1, "k": ["customTitle"], "v": "Greeting"}
    home.write(f"{where}/chatSessions/{ONE}.jsonl", {"kind": 0, "v": {"requests": [asked]}}, titled)
    home.write(f"{where}/chatSessions/{TWO}.json", {"customTitle": "Old", "requests": [asked]}, age_s=7200)
    one, two = home.find().sessions
    assert (one.program, one.identifier, one.title, one.project) == ("vscode-chat", ONE, "Greeting", "/work/my demo")
    assert (one.prompt, one.model, two.identifier, two.title) == ('Say "hi"', "copilot/m", TWO, "Old")
