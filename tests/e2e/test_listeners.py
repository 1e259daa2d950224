"""Nothing listens on the network but the demo's gateway, and that on the loopback alone (SECURITY.md).

Looked at from outside, in the kernel's tables, for a running window, a window on a growing log, `record`, `tap`, and
the demo. Sockets without a network address, as a second start finds the first one by, are no listeners.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

import inspector
from tests.builders import envelope, lines_of, log_file, received

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]

ROOT = Path(inspector.__file__).parents[1]
_LISTENING = "0A"
_IPV4_LOOPBACK = "0100007F"
_IPV6_LOOPBACK = "00000000000000000000000001000000"


def family_of(pid: int) -> list[int]:
    """A process and all below it."""
    children: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            found = re.search(r"^PPid:\t(\d+)", status.read_text(), re.MULTILINE)
        except OSError:
            continue
        if found:
            children.setdefault(int(found[1]), []).append(int(status.parent.name))
    family, waiting = [], [pid]
    while waiting:
        family.append(waiting.pop())
        waiting += children.get(family[-1], [])
    return family


def listeners_of(pid: int) -> set[str]:
    """Hexadecimal local addresses on which a process or one below it listens."""
    inodes: set[str] = set()
    for member in family_of(pid):
        for link in Path(f"/proc/{member}/fd").glob("*"):
            try:
                target = str(link.readlink())
            except OSError:
                continue
            if target.startswith("socket:["):
                inodes.add(target[8:-1])
    found: set[str] = set()
    for table in ("tcp", "tcp6", "udp", "udp6"):
        try:
            lines = Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]
        except OSError:  # it ended
            continue
        for line in lines:
            columns = line.split()
            bound = columns[3] == _LISTENING if table.startswith("tcp") else columns[2].endswith(":0000")
            if columns[9] in inodes and bound:
                found.add(columns[1].partition(":")[0])
    return found


@contextmanager
def running(*arguments: str) -> Generator[subprocess.Popen[bytes]]:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    process = subprocess.Popen(
        [sys.executable, "-m", "inspector", *arguments], cwd=ROOT, env=environment, stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def seen_within(
    process: subprocess.Popen[bytes], seconds: float, until: Callable[[set[str]], bool], *, may_end: bool = False
) -> set[str]:
    """Every listener seen in some time, or until there is what is waited for."""
    seen: set[str] = set()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process.poll() is not None:
            assert may_end, "it has ended by itself"
            break
        seen |= listeners_of(process.pid)
        if until(seen):
            break
        time.sleep(0.05)
    return seen


def test_the_demo_listens_on_the_loopback_alone() -> None:
    """Also shows that a listener is seen at all."""
    with running("demo", "--seconds", "250") as process:
        seen = seen_within(process, 120, bool)
        assert seen
        seen |= seen_within(process, 3, lambda _seen: False)
        assert seen <= {_IPV4_LOOPBACK, _IPV6_LOOPBACK}


@pytest.mark.parametrize(
    "arguments",
    [
        ("window",), ("window", "{log}"), ("window", "-"), ("record", "ws://127.0.0.1:9/", "--space", "x"),
        ("tap", "-o", "{folder}", "--", sys.executable, "-c", "import sys; sys.stdin.read()"),
    ],
    ids=["start page", "log", "standard input", "record", "tap"],
)  # fmt: skip
def test_nothing_else_listens(arguments: tuple[str, ...], tmp_path: Path) -> None:
    log = log_file(lines_of(*(received(envelope("chat", {"text": "hello"})) for _ in range(50))), "log.jsonl")
    filled = [argument.replace("{log}", str(log)).replace("{folder}", f"{tmp_path}/") for argument in arguments]
    with running(*filled) as process:
        gives_up = arguments[0] == "record"  # where nobody answers
        assert seen_within(process, 6, lambda _seen: False, may_end=gives_up) == set()
