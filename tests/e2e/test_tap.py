"""The tap between a real client and a real server of the `mcp` package; what it recorded read back."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, MCPError, StdioServerParameters, stdio_client

from inspector.document.document import CaptureDocument
from tests.conftest import MS

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]

ROOT = Path(__file__).parents[2]
PYTHON = sys.executable
SERVER = (PYTHON, "-m", "tests.mcp_server")
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="signals of this kind are not known there")


def tapped(capture: Path | str, *command: str, options: tuple[str, ...] = ()) -> list[str]:
    return [PYTHON, "-m", "inspector", "tap", "-o", str(capture), *options, "--", *command]


@asynccontextmanager
async def session(capture: Path, errors: Path | None = None) -> AsyncGenerator[ClientSession]:
    words = tapped(capture, *SERVER)
    asked = StdioServerParameters(command=words[0], args=words[1:], cwd=ROOT)
    with Path(errors or os.devnull).open("w") as log:  # noqa: ASYNC230 - opened once
        async with stdio_client(asked, errlog=log) as (read, write), ClientSession(read, write) as made:
            await made.initialize()
            yield made


@contextmanager
def started(capture: Path, *command: str, **options: Any) -> Generator[subprocess.Popen[bytes]]:
    process = subprocess.Popen[bytes](
        tapped(capture, *command), cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, **options
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def whole_lines(capture: Path) -> list[dict[str, Any]]:
    """What lies there; a line that is being written this moment does not count."""
    return [json.loads(line) for line in capture.read_bytes().rpartition(b"\n")[0].splitlines()]


def said(capture: Path, way: str) -> list[dict[str, Any]]:
    return [line["frame"] for line in whole_lines(capture) if line.get("dir") == way and "frame" in line]


def marks(capture: Path) -> list[dict[str, Any]]:
    return [line for line in whole_lines(capture) if "mark" in line]


@contextmanager
def read_back(capture: Path) -> Generator[CaptureDocument]:
    document = CaptureDocument()
    try:
        document.load(capture)
        yield document
    finally:
        document.close()


def stories(document: CaptureDocument) -> list[tuple[str | None, tuple[str, ...]]]:
    """Tool and badges of every result that signals something."""
    transients = document.analysis.transients
    rows = [row for row in range(len(document.capture)) if transients.signal(row) is not None]
    return [(transients.lifecycle(row).tool, transients.badges(row)) for row in rows]


# The workflow loop


async def test_the_workflow_loop_is_recorded_and_collapses(tmp_path: Path) -> None:
    capture = tmp_path / "loop.ctxcap"
    async with session(capture) as client:
        await client.call_tool("get_workflow_step")
        for page in (1, 2, 3):
            found = await client.call_tool("search_records", {"page": page})
            assert found.meta == {"context": {"lifecycle": "transient", "summary": f"6 visit records (page {page})"}}
            await client.call_tool("analysis_store")
    with read_back(capture) as document:
        assert document.unreadable == 0
        assert document.analysis.transients.totals() == {
            "transient": 3, "consumed": 3, "collapsed": 3, "pending": 0,
        }  # fmt: skip
        page = [("search_records", ("transient", "collapsed")), ("analysis_store", ("consumed",))]
        assert stories(document) == [("get_workflow_step", ()), *page * 3]
        assert {document.capture.string("sender", row) for row in range(len(document.capture))} == {"client", "server"}


async def test_a_consumer_that_fails_collapses_nothing_until_it_is_tried_again(tmp_path: Path) -> None:
    capture = tmp_path / "failing.ctxcap"
    async with session(capture) as client:
        await client.call_tool("get_workflow_step")
        await client.call_tool("search_records")
        assert (await client.call_tool("analysis_store", {"fail": True})).is_error
    with read_back(capture) as document:
        assert document.analysis.transients.totals()["pending"] == 1
    capture = tmp_path / "again.ctxcap"
    async with session(capture) as client:
        await client.call_tool("get_workflow_step")
        await client.call_tool("search_records")
        await client.call_tool("analysis_store", {"fail": True})
        await client.call_tool("analysis_store")
    with read_back(capture) as document:
        assert document.analysis.transients.totals()["collapsed"] == 1


async def test_parallel_calls_collapse_in_the_order_their_results_arrived(tmp_path: Path) -> None:
    capture = tmp_path / "parallel.ctxcap"
    async with session(capture) as client:
        await client.call_tool("get_workflow_step")
        # Each is answered after the one that is asked next.
        pairs = pairwise(["first", "second", "third", "last", ""])
        await asyncio.gather(*(client.call_tool("slow", {"name": name, "after": after}) for name, after in pairs))
        await asyncio.gather(*(client.call_tool("search_records", {"page": page}) for page in (1, 2, 3)))
        await client.call_tool("analysis_store")
    with read_back(capture) as document:
        slow = [line["id"] for line in said(capture, "client->server") if "slow" in str(line.get("params"))]
        answered = [line["id"] for line in said(capture, "server->client") if line["id"] in slow]
        assert sorted(answered) == slow
        assert answered == slow[::-1]
        first = next(row for row, found in enumerate(document.analysis.transients.columns["badges"]) if found & 1)
        assert document.analysis.transients.badges(first) == ("transient", "collapsed")
        assert document.analysis.transients.totals()["pending"] == 2


async def test_every_call_of_many_is_there_once(tmp_path: Path) -> None:
    capture, count = tmp_path / "many.ctxcap", 400
    async with session(capture) as client:
        for start in range(0, count, 50):
            asked = [client.call_tool("echo", {"text": f"call {start + n}"}) for n in range(50)]
            assert [found.content[0].text for found in await asyncio.gather(*asked)] == [  # type: ignore[union-attr]
                f"call {start + n}" for n in range(50)
            ]
    asked = [line["id"] for line in said(capture, "client->server") if line.get("method") == "tools/call"]
    answers = Counter(line["id"] for line in said(capture, "server->client"))
    assert len(set(asked)) == len(asked) == count
    assert {answers[identifier] for identifier in asked} == {1}
    with read_back(capture) as document:
        assert document.unreadable == 0


async def test_a_server_that_dies_within_a_call(tmp_path: Path) -> None:
    capture, errors = tmp_path / "dies.ctxcap", tmp_path / "errors"
    async with session(capture, errors) as client:
        with pytest.raises(MCPError):
            await client.call_tool("die", {"code": 3})
    assert "I am about to die" in errors.read_text()
    assert said(capture, "client->server")[-1]["params"]["name"] == "die"
    assert marks(capture)[-1]["reason"] == "the server ended with exit code 3"


# How it ends


@pytest.mark.parametrize("code", [0, 1, 7, 255])
def test_exit_codes_are_passed_on(code: int, tmp_path: Path) -> None:
    with started(tmp_path / "a.ctxcap", PYTHON, "-c", f"raise SystemExit({code})") as process:
        assert process.wait(60_000 * MS) == code


@posix_only
@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGSEGV"])
def test_a_server_ended_by_a_signal_ends_the_tap_by_it(name: str, tmp_path: Path) -> None:
    capture = tmp_path / "a.ctxcap"
    with started(capture, PYTHON, "-c", f"import os, signal; os.kill(os.getpid(), signal.{name})") as process:
        assert process.wait(60_000 * MS) == -getattr(signal, name)
    assert marks(capture)[-1]["reason"] == f"the server was ended by {name}"


def test_what_is_said_of_a_command_has_no_control_characters(tmp_path: Path) -> None:
    words = tapped(tmp_path / "a.ctxcap", "no\x1b]0;x\x07\u202e\x9b2J")
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 127
    assert done.stderr == "context-inspector tap: There is no program no\\x1b]0;x\\x07\\u202e\\x9b2J.\n"


def test_a_program_that_does_not_exist_leaves_no_file(tmp_path: Path) -> None:
    with started(tmp_path / "a.ctxcap", "no-such-program", stderr=subprocess.PIPE) as process:
        _, errors = process.communicate()
    assert process.returncode == 127
    assert errors == b"context-inspector tap: There is no program no-such-program.\n"
    assert list(tmp_path.iterdir()) == []


COUNTS_SIGNALS = """
import signal, sys
def told(number, _frame):
    print(signal.Signals(number).name, flush=True)
for name in ("SIGINT", "SIGTERM", "SIGHUP"):
    signal.signal(getattr(signal, name), told)
print("ready", flush=True)
for line in sys.stdin:
    sys.exit(int(line))
"""


@posix_only
def test_signals_reach_the_server_once_each_and_the_tap_stays(tmp_path: Path) -> None:
    with started(tmp_path / "a.ctxcap", PYTHON, "-c", COUNTS_SIGNALS, start_new_session=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            process.send_signal(getattr(signal, name))
            assert process.stdout.readline() == f"{name}\n".encode()
        process.stdin.write(b"5\n")
        assert process.wait(60_000 * MS) == 5
        assert process.stdout.read() == b""


COUNTS_INTERRUPTS = """
import signal, time
got = []
signal.signal(signal.SIGINT, lambda *_: got.append(1))
print("ready", flush=True)
end = time.monotonic() + 100
while not got and time.monotonic() < end:
    time.sleep(0.01)
time.sleep(0.3)
print(f"interrupted {len(got)} times", flush=True)
"""


@pytest.mark.skipif(not hasattr(signal, "sigwaitinfo"), reason="the system does not say who sent a signal")
def test_ctrl_c_at_a_terminal_reaches_the_server_once(tmp_path: Path) -> None:
    import pty

    program = "import os, sys, termios, fcntl; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    program += "os.execv(sys.argv[1], sys.argv[1:])"
    terminal, end = pty.openpty()
    words = [PYTHON, "-c", program, *tapped(tmp_path / "a.ctxcap", PYTHON, "-c", COUNTS_INTERRUPTS)]
    process = subprocess.Popen(words, cwd=ROOT, stdin=end, stdout=end, stderr=end)
    os.close(end)
    shown = b""
    while b"ready" not in shown:
        shown += os.read(terminal, 1000)
    os.write(terminal, b"\x03")
    while b"times" not in shown:
        shown += os.read(terminal, 1000)
    assert b"interrupted 1 times" in shown
    assert process.wait(60_000 * MS) == 0
    os.close(terminal)


@posix_only
def test_the_signal_that_ends_the_server_ends_the_tap(tmp_path: Path) -> None:
    with started(tmp_path / "a.ctxcap", "sh", "-c", "echo ready; exec sleep 600") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.terminate()
        assert process.wait(60_000 * MS) == -signal.SIGTERM


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux ends a child with its parent")
def test_a_killed_tap_leaves_no_server_and_what_was_said(tmp_path: Path) -> None:
    capture = tmp_path / "a.ctxcap"
    with started(capture, "sh", "-c", "echo $$; exec sleep 600") as process:
        assert process.stdout is not None
        server = int(process.stdout.readline())
        until(lambda: said_text(capture) == [str(server)])
        process.kill()
        process.wait()
        until(lambda: not is_alive(server))


def test_what_passes_first_is_recorded_first(tmp_path: Path) -> None:
    """A tap that is killed right after the server's first line has that line."""
    capture = tmp_path / "a.ctxcap"
    words = "import time; print('{\"n\": 1}', flush=True); time.sleep(9)"
    with started(capture, PYTHON, "-c", words) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        time.sleep(50 * MS)
        process.kill()
        process.wait()
    assert len(said(capture, "server->client")) == 1


def said_text(capture: Path) -> list[str]:
    return [line["text"] for line in whole_lines(capture) if "text" in line]


def is_alive(number: int) -> bool:
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def until(is_so: Any) -> None:
    end = time.monotonic() + 60_000 * MS
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_the_server_closes_first_while_the_client_reads_slowly(tmp_path: Path) -> None:
    size = 3_000_000
    program = f"import sys; sys.stdout.write('x' * {size} + chr(10)); sys.stdout.flush()"
    with started(tmp_path / "a.ctxcap", PYTHON, "-c", program) as process:
        assert process.stdout is not None
        time.sleep(0.3)
        first = process.stdout.read(1000)
        time.sleep(1.2)  # longer than the tap's patience with a pipe in which nothing moves
        rest = process.stdout.read()
        while data := process.stdout.read():
            rest += data
        assert len(first) + len(rest) == size + 1
        assert process.wait(60_000 * MS) == 0


def test_a_client_that_goes_is_noticed_by_the_server(tmp_path: Path) -> None:
    program = "import sys; sys.stdin.read(); sys.exit(9)"
    with started(tmp_path / "a.ctxcap", PYTHON, "-c", program) as process:
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60_000 * MS) == 9


def test_a_client_that_reads_no_more_is_noticed_by_the_server(tmp_path: Path) -> None:
    with started(tmp_path / "a.ctxcap", "sh", "-c", "while echo again; do :; done 2>/dev/null; exit 4") as process:
        assert process.stdout is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.wait(60_000 * MS) in (4, -getattr(signal, "SIGPIPE", 0))


def test_a_child_of_the_server_that_holds_the_pipe_does_not_hold_the_end_back(tmp_path: Path) -> None:
    begun = time.monotonic()
    with started(tmp_path / "a.ctxcap", "sh", "-c", "sleep 600 & echo $!; exit 6") as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        try:
            assert process.wait(100_000 * MS) == 6
            assert time.monotonic() - begun < 100_000 * MS
        finally:
            os.kill(child, signal.SIGTERM)


# The disk


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere a limit set from outside is not known")
def test_a_disk_full_from_the_start_does_not_reach_the_server(tmp_path: Path) -> None:
    import resource

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))

    with started(tmp_path / "full.ctxcap", "cat", stderr=subprocess.PIPE, preexec_fn=full) as process:
        lines = b"".join(b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\n' % n for n in range(5_000))
        out, errors = process.communicate(lines)
    assert (process.returncode, out) == (0, lines)
    assert errors.count(b"cannot be written: File too large") == 1


@posix_only
def test_a_limit_of_the_file_size_is_survived_and_lifted(tmp_path: Path) -> None:
    import resource

    capture = tmp_path / "a.ctxcap"
    line = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"' + b"x" * 900 + b'"}}\n'
    with started(capture, "cat", stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        talk(process, line, 1)
        until(lambda: capture.stat().st_size > 900)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
        talk(process, line, 100)
        assert process.stderr is not None
        noticed = process.stderr.readline()
        assert 18_000 < capture.stat().st_size <= 20_000
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        talk(process, line, 1)
        _, errors = process.communicate()
    assert process.returncode == 0
    assert re.findall(rb"tap: .*? (cannot be written: File too large|is written again; no)", noticed + errors) == [
        b"cannot be written: File too large", b"is written again; no",
    ]  # fmt: skip
    assert len(said(capture, "client->server")) == len(said(capture, "server->client")) == 102


def talk(process: subprocess.Popen[bytes], line: bytes, count: int) -> None:
    """Have lines given back by `cat`, one by one."""
    assert process.stdin is not None
    assert process.stdout is not None
    for _ in range(count):
        process.stdin.write(line)
        left = len(line)
        while left:
            left -= len(process.stdout.read(left) or b"")


@posix_only
def test_a_removed_folder_is_survived_and_its_return_noticed(tmp_path: Path) -> None:
    folder = tmp_path / "captures"
    folder.mkdir()
    capture = folder / "a.ctxcap"
    line = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    with started(capture, "cat", stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        talk(process, line, 3)
        until(lambda: capture.exists() and len(said(capture, "server->client")) == 3)
        capture.unlink()
        folder.rmdir()
        time.sleep(1.1)
        talk(process, line, 4)
        assert b"it was moved away or removed" in process.stderr.readline()
        talk(process, line, 2)
        folder.mkdir()
        until(lambda: capture.exists() and any(mark["mark"] == "gap" for mark in marks(capture)))
        talk(process, line, 5)
        _, errors = process.communicate()
    assert process.returncode == 0
    assert b"is written again" in errors
    assert len(said(capture, "client->server")) >= 5
    with read_back(capture) as document:
        assert document.unreadable == 0
        assert document.capture.string("kind", 0) is not None


# Bytes


def test_bytes_pass_through_and_are_recorded_exactly(tmp_path: Path) -> None:
    capture = tmp_path / "a.ctxcap"
    odd = [b'{"jsonrpc":"2.0","id":1,"method":"ping"}', b"\xff\xfe\x00", b"", b'{"a":1}\r', b"\xe2\x98\x83", b"[1"]
    data = b"\n".join([*odd, b"x" * 3_000_000, b"the last has no end"])
    with started(capture, "cat") as process:
        out, _ = process.communicate(data)
    assert out == data
    for way in ("client->server", "server->client"):
        assert recorded_bytes(capture, way) == data


def recorded_bytes(capture: Path, way: str) -> bytes:
    import base64

    lines: list[bytes] = []
    end = b""
    for raw in capture.read_bytes().splitlines():
        line = json.loads(raw)
        if line.get("dir") != way:
            continue
        if line.get("mark") == "ended":
            end = b"\n" if line["newline"] else b""
        elif "frame" in line:
            lines.append(raw[raw.index(b'"frame":') + 8 : -1])
        else:
            lines.append(base64.b64decode(line["b64"]) if "b64" in line else line["text"].encode())
    return b"\n".join(lines) + end


def test_part_of_a_line_is_passed_on_at_once(tmp_path: Path) -> None:
    with started(tmp_path / "a.ctxcap", "cat") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"half')
        assert process.stdout.read(6) == b'{"half'


# The file


def test_a_second_start_has_a_file_of_its_own_unless_it_is_to_go_on(tmp_path: Path) -> None:
    capture, beside = tmp_path / "a.ctxcap", tmp_path / "a-2.ctxcap"
    for options in (), (), ("--append",):
        done = subprocess.run(
            tapped(capture, "echo", "hello", options=options), cwd=ROOT, capture_output=True, check=False, timeout=240
        )
        assert (done.returncode, done.stdout) == (0, b"hello\n")
        assert (b"has an earlier capture" in done.stderr) == (not options and beside.exists())
    assert said_text(capture) == ["hello", "hello"]
    assert said_text(beside) == ["hello"]
    other = tmp_path / "notes.txt"
    other.write_text("dear diary")
    done = subprocess.run(
        tapped(other, "echo", options=("--append",)), cwd=ROOT, capture_output=True, check=False, timeout=240
    )
    assert (done.returncode, other.read_text()) == (2, "dear diary")
    assert b"is not a capture" in done.stderr


def test_a_second_tap_does_not_mix_its_server_into_a_capture(tmp_path: Path) -> None:
    capture = tmp_path / "a.ctxcap"
    line = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    with started(capture, "cat") as process:
        talk(process, line, 1)
        until(lambda: capture.exists() and len(said(capture, "server->client")) == 1)
        for options, code in ((), 0), (("--append",), 2):
            done = subprocess.run(
                tapped(capture, "echo", options=options), cwd=ROOT, capture_output=True, check=False, timeout=240
            )
            assert done.returncode == code
            assert done.stdout == (b"" if code else b"\n")
            assert (b"Another tap writes" in done.stderr) == bool(code)
        assert (tmp_path / "a-2.ctxcap").exists()
        talk(process, line, 1)
        process.communicate()
    with read_back(capture) as document:
        assert len(document.capture) == 4
        assert document.unreadable == 0


@posix_only
def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for options in (), ("--append",):
        done = subprocess.run(
            tapped(tmp_path / "pipe", "cat", options=options), cwd=ROOT, capture_output=True, check=False, timeout=240
        )
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"is not a regular file" in done.stderr


@posix_only
def test_descriptors_handed_down_reach_the_server_and_end_with_it(tmp_path: Path) -> None:
    theirs, ours = os.pipe()
    server = f"import os, sys; os.write({ours}, b'ready'); os.close({ours}); sys.stdin.read()"
    with started(tmp_path / "a.ctxcap", PYTHON, "-c", server, pass_fds=[ours]):
        os.close(ours)
        with open(theirs, "rb") as read:  # noqa: PTH123 - a descriptor
            assert read.read() == b"ready"  # to its end, though the tap is there


def test_in_a_folder_each_start_has_a_file_of_its_own(tmp_path: Path) -> None:
    for _ in range(2):
        subprocess.run(tapped(f"{tmp_path}/new/", "true"), cwd=ROOT, check=True, timeout=240)
    made = [path.name for path in (tmp_path / "new").iterdir()]
    assert len(made) == 2
    assert all(name.startswith("true 20") and name.endswith(".ctxcap") for name in made)


def test_secrets_of_the_command_line_are_not_recorded(tmp_path: Path) -> None:
    capture = tmp_path / "a.ctxcap"
    secrets = ["hunter2", "correct-horse", "ghp_abcdefghij0123456789"]
    words = ["true", "--api-key", secrets[0], f"--password={secrets[1]}", f"TOKEN={secrets[2]}"]
    subprocess.run(tapped(capture, *words), cwd=ROOT, check=True, timeout=240)
    text = capture.read_text()
    assert not [secret for secret in secrets if secret in text]
    assert json.loads(text.splitlines()[0])["origin"]["command"][:2] == ["true", "--api-key"]


# The window


def test_open_starts_the_window_apart_from_the_pipes(tmp_path: Path) -> None:
    stub = tmp_path / "stub"
    stub.mkdir()
    note = tmp_path / "note.json"
    (stub / "sitecustomize.py").write_text(
        "import json, os, sys\n"
        "words = sys.orig_argv\n"
        "if 'window' in words:\n"
        "    held = [os.readlink(f'/proc/self/fd/{n}') for n in range(3)] if os.path.exists('/proc/self/fd') else []\n"
        f"    open({str(note)!r} + '.part', 'w').write(json.dumps([words[-3:], held, os.getsid(0) == os.getpid()]))\n"
        f"    os.replace({str(note)!r} + '.part', {str(note)!r})\n"
        "    os._exit(0)\n"
    )
    capture = tmp_path / "a.ctxcap"
    environment = {**os.environ, "PYTHONPATH": str(stub), "DISPLAY": ":99"}
    words = tapped(capture, "cat", options=("--open",))
    process = subprocess.Popen(
        words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    until(note.exists)
    out, errors = process.communicate(b"hello\n")
    assert (process.returncode, out, errors) == (0, b"hello\n", b"")
    shown, held, is_apart = json.loads(note.read_text())
    assert shown == ["window", "--standalone", str(capture)]
    assert held in ([], ["/dev/null"] * 3)
    assert is_apart


def test_without_a_display_open_is_a_sentence(tmp_path: Path) -> None:
    bare = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    done = subprocess.run(
        tapped(tmp_path / "a.ctxcap", "echo", "hello", options=("--open",)),
        cwd=ROOT, capture_output=True, check=False, timeout=240, env=bare,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, b"hello\n")
    assert b"There is no display" in done.stderr
