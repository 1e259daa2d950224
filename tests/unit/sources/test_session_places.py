"""Sessions of every program with a known place, on each system: listed, searched, and opened by their printed names."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from inspector.cli.commands import app
from inspector.formats.table import FORMATS
from inspector.sources.agent_sessions.line_files import LineFacts, complete_from_lines
from inspector.sources.agent_sessions.lookup import find_sessions, newest_session, session_named, short_names
from inspector.sources.agent_sessions.session import AgentSession, Lookup
from tests.builders import document_at
from tests.unit.formats.test_crush import database as crush_database
from tests.unit.formats.test_cursor import CHAT as CURSOR_CHAT
from tests.unit.formats.test_cursor import sample_database as cursor_database

SAMPLES = Path(__file__).parents[3] / "inspector" / "formats"
SYSTEMS = ("linux", "darwin", "win32")
WHEN = 1_777_000_000


class Machine:
    """A user's folders on one system."""

    def __init__(self, folder: Path, system: str) -> None:
        self.home, self.system = folder / "user", system
        self.roaming = self.home / "AppData" / "Roaming"
        on_windows = {"USERPROFILE": str(self.home), "APPDATA": str(self.roaming), "HOME": str(folder / "other")}
        self.environment = on_windows if system == "win32" else {"HOME": str(self.home)}

    @property
    def settings(self) -> Path:
        places = {"linux": self.home / ".config", "darwin": self.home / "Library" / "Application Support"}
        return places.get(self.system, self.roaming)

    @property
    def goose(self) -> Path:
        kept = self.roaming / "Block" / "goose" / "data" if self.system == "win32" else self.home / ".local/share/goose"
        return kept / "sessions"

    def find(self, words: str = "", newest: int = 5_000) -> Lookup:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(sys, "platform", self.system)
            return find_sessions(self.environment, newest, words)

    def session(self, name: str) -> AgentSession:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(sys, "platform", self.system)
            return session_named(name, self.environment)

    def newest(self) -> AgentSession:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(sys, "platform", self.system)
            return newest_session(self.environment)


class Known(NamedTuple):
    """Facts of a placed sample."""

    identifier: str
    name: str
    project: str
    messages: int | None = None


def copied(sample: str, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(SAMPLES / sample, path)
    os.utime(path, (WHEN, WHEN))
    return path


def lines_of(sample: str, path: Callable[[Machine], Path], known: Known) -> Callable[[Machine], Known]:
    def placed(machine: Machine) -> Known:
        copied(sample, path(machine))
        return known

    return placed


def goose_database(machine: Machine) -> Known:
    machine.goose.mkdir(parents=True)
    _, *messages = (SAMPLES / "goose/samples/goose.jsonl").read_text().splitlines()
    with closing(sqlite3.connect(machine.goose / "sessions.db")) as made:
        made.execute("CREATE TABLE sessions (id, working_dir, description, name, created_at, updated_at)")
        made.execute("CREATE TABLE messages (id INTEGER, session_id, role, content_json, created_timestamp)")
        made.execute("INSERT INTO sessions VALUES ('20260424_1', '/home/ada/kites', '', '', '', '2026-04-24 03:06:40')")
        for number, one in enumerate(map(json.loads, messages)):
            row = (number, "20260424_1", one["role"], json.dumps(one["content"]), one["created"])
            made.execute("INSERT INTO messages VALUES (?,?,?,?,?)", row)
        made.commit()
    return Known("20260424_1", "Which kites are on the roof?", "/home/ada/kites", len(messages))


def opencode(machine: Machine) -> Known:
    folder = machine.home / ".local" / "share" / "opencode"
    folder.mkdir(parents=True)
    records = [json.loads(one) for one in (SAMPLES / "opencode/samples/opencode.jsonl").read_text().splitlines()]
    with closing(sqlite3.connect(folder / "opencode.db")) as made:
        made.execute("CREATE TABLE session (id, parent_id, directory, title, time_created, time_updated)")
        made.execute("CREATE TABLE message (id, session_id, time_created, data)")
        made.execute("CREATE TABLE part (id, session_id, message_id, time_created, data)")
        sessions: dict[str, dict[str, object]] = {}
        for one in records:
            info = one["info"]
            if "role" not in info:
                sessions[info["id"]] = info
                continue
            row = (info["id"], info["sessionID"], info["time"]["created"], json.dumps(info))
            made.execute("INSERT INTO message VALUES (?,?,?,?)", row)
            for part in one["parts"]:
                row = (part["id"], info["sessionID"], info["id"], 0, json.dumps(part))
                made.execute("INSERT INTO part VALUES (?,?,?,?,?)", row)
        for info in sessions.values():
            row = (info["id"], info.get("parentID"), info["directory"], info["title"], 0, WHEN * 1000)
            made.execute("INSERT INTO session VALUES (?,?,?,?,?,?)", row)
        made.commit()
        [(count,)] = made.execute("SELECT count(*) FROM message WHERE session_id = 'ses_1'")
    return Known("ses_1", "Tides of the week", "/srv/demo", count)


def crush(machine: Machine) -> Known:
    local = machine.home / "AppData" / "Local" if machine.system == "win32" else machine.home / ".local" / "share"
    listed = local / "crush" / "projects.json"
    listed.parent.mkdir(parents=True, exist_ok=True)
    project = machine.home / "bakery"
    listed.write_text(json.dumps({"projects": [{"path": str(project), "data_dir": ".crush"}]}))
    (project / ".crush").mkdir(parents=True)
    crush_database(project / ".crush" / "crush.db")
    with closing(sqlite3.connect(project / ".crush" / "crush.db")) as made:
        made.execute("UPDATE sessions SET updated_at = ?", (WHEN,))
        made.commit()
    return Known("8e538d43-0000-4000-8000-000000000001", "Rye bread", str(project), 9)


def kiro(machine: Machine) -> Known:
    folder = machine.home / ".kiro" / "sessions" / "cli"
    copied("kiro/samples/kiro.jsonl", folder / "f2946a26-0000-4000-8000-000000000001.jsonl")
    facts = {
        "session_id": "f2946a26-0000-4000-8000-000000000001",
        "cwd": "/w/bakery",
        "title": "Rye bread",
        "session_state": {},
    }
    (folder / "f2946a26-0000-4000-8000-000000000001.json").write_text(json.dumps(facts))
    return Known("f2946a26-0000-4000-8000-000000000001", "Rye bread", "/w/bakery")


def cursor_chat(machine: Machine) -> Known:
    storage = machine.settings / "Cursor" / "User" / "globalStorage"
    cursor_database(storage / "state.vscdb", lastUpdatedAt=WHEN * 1_000)
    return Known(CURSOR_CHAT, "Teapots", "", 9)


def vscode_chat(machine: Machine) -> Known:
    workspace = machine.settings / "Code" / "User" / "workspaceStorage" / "0a0b"
    copied(
        "vscode_chat/samples/vscode-chat.jsonl",
        workspace / "chatSessions" / "00000000-0000-4000-8000-00000000000c.jsonl",
    )
    (workspace / "workspace.json").write_text('{"folder": "file:///work/tide%20tables"}')
    return Known("00000000-0000-4000-8000-00000000000c", "The tide, drawn", "/work/tide tables")


def cline(machine: Machine) -> Known:
    storage = machine.settings / "Code" / "User" / "globalStorage" / "saoudrizwan.claude-dev"
    task = storage / "tasks" / "1777629600000"
    copied("cline/samples/cline-history.json", task / "api_conversation_history.json")
    copied("cline/samples/cline-window.json", task / "ui_messages.json")
    listed = storage / "state" / "taskHistory.json"
    listed.parent.mkdir()
    entry = {
        "id": "1777629600000",
        "task": "Which kites are on the roof?",
        "cwdOnTaskInitialization": "/home/ada/kites",
    }
    listed.write_text(json.dumps([entry]))
    return Known("1777629600000", "Which kites are on the roof?", "/home/ada/kites")


THREAD, ID = "019cb813-5280-7000-8000-000000000001", "33333333-0000-4000-8000-000000000001"
CURSOR, DROID, QWEN = (ID.replace("3333", one) for one in ("4444", "5555", "6666"))
GROK = "01b2c3d4-0000-7000-8000-00000000a001"
KITES, ORDER = "Which kites are on the roof?", "Why does the total of an order differ from its lines?"
PLACED: dict[str, Callable[[Machine], Known]] = {
    "claude-code": lines_of(
        "claude_code/samples/claude-code.jsonl",
        lambda machine: machine.home / ".claude/projects/-home-kim-shop/5f0c3a52-8d17-4a0e-9b3e-6f2f1f6f0a01.jsonl",
        Known("5f0c3a52-8d17-4a0e-9b3e-6f2f1f6f0a01", ORDER, "/home/kim/shop"),
    ),
    "codex": lines_of(
        "codex/samples/codex.jsonl",
        lambda machine: machine.home / f".codex/sessions/2026/03/04/rollout-2026-03-04T09-00-00-{THREAD}.jsonl",
        Known(THREAD, "Make the totals round once.", "/work/ledger"),
    ),
    "copilot-cli": lines_of(
        "copilot_cli/samples/copilot-cli.jsonl",
        lambda machine: machine.home / ".copilot/session-state/c0000000-0000-4000-8000-000000000001/events.jsonl",
        Known("c0000000-0000-4000-8000-000000000001", "Which berths are free?", ""),
    ),
    "cursor-agent": lines_of(
        "cursor_agent/samples/cursor-transcript.jsonl",
        lambda machine: machine.home / f".cursor/projects/home-ada-kites/agent-transcripts/{CURSOR}/{CURSOR}.jsonl",
        Known(CURSOR, KITES, "home-ada-kites"),
    ),
    "factory-droid": lines_of(
        "factory_droid/samples/factory-droid.jsonl",
        lambda machine: machine.home / f".factory/sessions/-home-ada-kites/{DROID}.jsonl",
        Known(DROID, "Kites on the roof", "/home/ada/kites"),
    ),
    "gemini-cli": lines_of(
        "gemini_cli/samples/gemini-cli.jsonl",
        lambda machine: machine.home / ".gemini/tmp/harbour/chats/session-2026-05-02T09-00-0a1b2c3d.jsonl",
        Known("0a1b2c3d", "Which berths are free?", "harbour"),
    ),
    "goose": goose_database,
    "grok-build": lines_of(
        "grok_build/samples/grok-build-updates.jsonl",
        lambda machine: machine.home / f".grok/sessions/%2Fw%2Fcoast/{GROK}/updates.jsonl",
        Known(GROK, "Count the lighthouses in coast.txt and run the check", ""),
    ),
    "kimi": lines_of(
        "kimi/samples/kimi-code.jsonl",
        lambda machine: machine.home / ".kimi-code/sessions/wd-bakery/session_7c1e/agents/main/wire.jsonl",
        Known("session_7c1e", "Which flour is left?", "/home/kim/bakery"),
    ),
    "opencode": opencode,
    "pi": lines_of(
        "pi/samples/pi.jsonl",
        lambda machine: machine.home / f".pi/agent/sessions/--home-ada-kites--/2026-05-01T10-00-00-000Z_{ID}.jsonl",
        Known(ID, "Kites", "/home/ada/kites"),
    ),
    "qwen-code": lines_of(
        "qwen_code/samples/qwen-code.jsonl",
        lambda machine: machine.home / f".qwen/projects/-home-ada-kites/chats/{QWEN}.jsonl",
        Known(QWEN, "Kites on the roof", "/home/ada/kites"),
    ),
    "vscode-chat": vscode_chat,
    "amp": lines_of(
        "amp/samples/amp.json",
        lambda machine: machine.home / ".local/share/amp/threads/T-00000000-0000-4000-8000-000000000001.json",
        Known("T-00000000-0000-4000-8000-000000000001", "Kites on the roof", "/home/ada/kites", 8),
    ),
    "cline": cline,
    "kiro": kiro,
    "crush": crush,
    "cursor-chat": cursor_chat,
    "continue": lines_of(
        "continue_dev/samples/continue-bakery.json",
        lambda machine: machine.home / ".continue/sessions/c0ffee00-0000-4000-8000-000000000001.json",
        Known("c0ffee00-0000-4000-8000-000000000001", "Rye bread", "/w/bakery"),
    ),
}  # fmt: skip
"""Places a sample of each program with sessions; returns the facts to list."""


@pytest.fixture(params=SYSTEMS)
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Machine:
    return Machine(tmp_path, request.param)


def test_every_program_with_sessions_is_placed() -> None:
    assert PLACED.keys() == {one.name for one in FORMATS if one.sessions}


@pytest.mark.parametrize("program", PLACED)
def test_a_session_is_listed_and_opens_by_its_printed_name(machine: Machine, program: str) -> None:
    known = PLACED[program](machine)
    lookup = machine.find()
    [found] = lookup.sessions
    assert (found.program, found.identifier, found.name, found.project) == (program, *known[:3])
    assert (found.modified, found.messages) == (WHEN, known.messages)
    document = document_at(machine.session(short_names(lookup)[found.identifier]).path)
    assert document.format == program
    assert len(document.capture) > 1


def test_all_programs_are_listed_together_and_the_newest_of_all_is_the_last(machine: Machine) -> None:
    known = {program: place(machine) for program, place in PLACED.items()}
    assert {one.program: one.identifier for one in machine.find().sessions} == {
        program: one.identifier for program, one in known.items()
    }
    for program, age in zip(("pi", "codex", "amp"), (300, 200, 100), strict=True):
        path = machine.session(known[program].identifier).path
        os.utime(path, (WHEN + 1000 - age, WHEN + 1000 - age))
        assert machine.newest().program == program


def test_a_session_is_found_by_words_of_its_title_or_first_prompt(machine: Machine) -> None:
    for place in PLACED.values():
        place(machine)
    found = machine.find(words="KITES roof")
    assert {"amp", "cline", "cursor-agent", "factory-droid", "goose", "qwen-code"} <= {
        one.program for one in found.sessions
    }
    assert found.total == len(PLACED)
    assert [one.program for one in machine.find(words="ROUND totals").sessions] == ["codex"]
    assert [one.program for one in machine.find(newest=1, words="tides").sessions] == ["opencode"]
    assert machine.find(words="kites totals").sessions == []


def test_a_session_with_a_title_is_found_by_its_first_prompt_too(machine: Machine) -> None:
    for place in PLACED.values():
        place(machine)
    assert {"kiro", "opencode"} <= {
        one.program for words in ("bake a rye", "find the tide tables") for one in machine.find(words=words).sessions
    }


def test_the_command_searches_and_says_what_it_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(tmp_path, "linux")
    monkeypatch.setenv("HOME", str(machine.home))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "USERPROFILE", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    PLACED["codex"](machine)
    PLACED["qwen-code"](machine)
    shown = CliRunner().invoke(app, ["sessions", "--search", "Totals ledger"]).stdout
    assert re.search(r"codex +019cb813-5280  /work/ledger  Make the totals round once\.", shown)
    assert shown.endswith("1 of 2 sessions.\n")
    [one] = json.loads(CliRunner().invoke(app, ["sessions", "--search", "totals", "--json"]).stdout)
    assert (one["id"], one["messages"]) == (THREAD, None)
    assert CliRunner().invoke(app, ["sessions", "--search", "zeppelin"]).stdout == (
        "None of 2 sessions contains all of these words: zeppelin\n"
    )


def test_a_copy_of_an_answer_for_a_chat_program_is_of_no_model(machine: Machine) -> None:
    PLACED["pi"](machine)
    assert [one.model for one in machine.find().sessions] == ["claude-x"]


def test_a_name_that_two_ids_share_is_printed_as_a_whole(machine: Machine) -> None:
    folder = machine.home / ".factory/sessions/-w"
    for end in ("1", "2"):
        copied("factory_droid/samples/factory-droid.jsonl", folder / f"33333333-0000-4000-8000-00000000000{end}.jsonl")
    lookup = machine.find()
    assert set(short_names(lookup).values()) == {one.identifier for one in lookup.sessions}


def test_of_two_copies_of_a_session_the_newest_is_listed(machine: Machine) -> None:
    name = "session-2026-05-02T09-00-0a1b2c3d.jsonl"
    old = copied("gemini_cli/samples/gemini-cli.jsonl", machine.home / ".gemini/tmp/8b1a/chats" / name)
    new = copied("gemini_cli/samples/gemini-cli.jsonl", machine.home / ".gemini/tmp/harbour/chats" / name)
    os.utime(old, (WHEN - 50, WHEN - 50))
    assert [one.path for one in machine.find().sessions] == [new]
    assert machine.session("0a1b2c3d").path == new


def test_folders_chosen_by_variables_are_searched(tmp_path: Path) -> None:
    chosen = {
        "CLAUDE_CONFIG_DIR": "projects/-w/a.jsonl",
        "CODEX_HOME": f"sessions/rollout-2026-03-04T09-00-00-{THREAD}.jsonl",
        "COPILOT_HOME": "session-state/a/events.jsonl", "CURSOR_DATA_DIR": "projects/w/agent-transcripts/a.jsonl",
        "FACTORY_HOME_OVERRIDE": ".factory/sessions/-w/a.jsonl", "QWEN_RUNTIME_DIR": "projects/-w/chats/a.jsonl",
        "GEMINI_CLI_HOME": ".gemini/tmp/w/chats/session-2026-05-02T09-00-0a1b2c3d.jsonl",
        "PI_CODING_AGENT_DIR": "sessions/--w--/2026_a.jsonl", "GOOSE_PATH_ROOT": "data/sessions/20260424_1.jsonl",
        "AMP_DATA_DIR": "threads/T-a.json", "CONTINUE_GLOBAL_DIR": "sessions/c1.json",
        "GROK_HOME": "sessions/%2Fw/a/updates.jsonl",
        "CLINE_DIR": "data/tasks/1/api_conversation_history.json",
    }  # fmt: skip
    environment = {name: str(tmp_path / name) for name in chosen} | {"HOME": str(tmp_path / "home")}
    for name, path in chosen.items():
        (tmp_path / name / path).parent.mkdir(parents=True)
        (tmp_path / name / path).write_text("{}\n")
    assert len(find_sessions(environment).sessions) == len(chosen)


def test_editors_built_on_others_and_their_servers_are_searched(machine: Machine) -> None:
    chat = "vscode_chat/samples/vscode-chat.jsonl"
    copied(chat, machine.settings / "Cursor" / "User" / "globalStorage" / "emptyWindowChatSessions" / "a.jsonl")
    copied(
        chat, machine.home / ".vscode-server" / "data" / "User" / "workspaceStorage" / "w" / "chatSessions" / "b.jsonl"
    )
    task = machine.settings / "VSCodium" / "User" / "globalStorage" / "kilocode.kilo-code" / "tasks" / "1"
    copied("cline/samples/cline-history.json", task / "api_conversation_history.json")
    assert {one.identifier: one.name for one in machine.find().sessions} == {
        "a": "The tide, drawn", "b": "The tide, drawn", "1": KITES,
    }  # fmt: skip


def test_a_sub_agent_makes_its_session_the_newest(machine: Machine) -> None:
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": THREAD}}}
    child = {"type": "session_meta", "payload": {"id": "019cb813-5280-7000-8000-000000000002", "source": spawn}}
    PLACED["codex"](machine)
    path = (
        machine.home
        / ".codex/sessions/2026/03/04/rollout-2026-03-04T10-00-00-019cb813-5280-7000-8000-000000000002.jsonl"
    )
    path.write_text(json.dumps(child) + "\n")
    os.utime(path, (WHEN + 500, WHEN + 500))
    PLACED["pi"](machine)
    os.utime(machine.session(ID).path, (WHEN + 300, WHEN + 300))
    assert machine.newest().identifier == THREAD


def test_most_of_a_long_session_stays_undecoded(machine: Machine) -> None:
    decoded = 0

    class Counting:
        def decode(self, line: bytes) -> dict[str, object]:
            nonlocal decoded
            decoded += 1
            return json.loads(line)

    path = machine.home / "long.jsonl"
    path.parent.mkdir(parents=True)
    filler = [{"text": "x" * 500, "number": number} for number in range(2_000)]
    records = [{"cwd": "/w", "ask": "Look"}, *filler, {"model": "m"}, {"title": "Kites"}, *filler[:20]]
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    session = AgentSession("x", "long", path, 0, path.stat().st_size)

    def facts(one: dict[str, str]) -> LineFacts:
        project, prompt, title, model = (one.get(key, "") for key in ("cwd", "ask", "title", "model"))
        return LineFacts(project, prompt, title=title, model=model)

    # The decoder counts the lines.
    complete_from_lines(session, Counting(), facts, titles=(b'"title"',))  # type: ignore[arg-type] - as above
    assert (session.project, session.prompt, session.title, session.model) == ("/w", "Look", "Kites", "m")
    assert decoded == 3
