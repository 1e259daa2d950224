"""Runs a server behind a stdio tap: relays bytes and signals, returns its exit code, shows notices.

The server stays in the tap's process group. So signals from a terminal or a client reach it as without a tap, and it
can ask for a password at the terminal. Signals to the tap alone are passed on.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from inspector.base.program_file import program_file
from inspector.tap.arguments import TapArguments
from inspector.tap.backlog import CLIENT, SERVER, Backlog
from inspector.tap.capture_name import NotPossibleError, claim_file
from inspector.tap.hold import FileHold
from inspector.tap.recorder import TapRecorder

# Pumps copy bytes between two pipes, each on its own thread.

READ_BYTES = 1 << 16
"""Capacity of a pipe in bytes."""
# The capture takes its first line some 100 ms after the start. A disk that is slower must not stop the traffic.
_MAX_RECORDING_WAIT_S = 2.0
"""Seconds that a disk may delay the first bytes."""


class Pump:
    """Copies one pipe to another until either ends, then closes the other end as without a tap.

    An end of the source closes the sink; a sink without a reader closes the source.

    Attributes:
        delivering: True while it has bytes that are not written yet.
        passed: number of reads, to detect progress.
        thread: its thread; it may block for ever in a read.
    """

    def __init__(
        self, way: int, source: int, sink: int, backlog: Backlog, *, close: Callable[[int], None] = os.close,
        recording: threading.Event | None = None,
    ) -> None:  # fmt: skip
        """Prepares the pump; `start` starts its thread.

        Args:
            way: the sending side, CLIENT or SERVER.
            source, sink: descriptors; both are closed with `close`.
            backlog: gets a copy of all bytes.
            close: closes a descriptor.
            recording: set when recording works; the first bytes wait for it.
        """
        self.delivering = False
        self.passed = 0
        self._way = way
        self._source = source
        self._sink = sink
        self._backlog = backlog
        self._close = close
        self._recording = recording
        self.thread = threading.Thread(target=self._run, name=f"pump {way}", daemon=True)

    def start(self) -> None:
        self.thread.start()

    def _run(self) -> None:
        try:
            why = self._pass_on()
        finally:
            self.delivering = False
            for end in (self._sink, self._source):
                try:
                    self._close(end)
                except OSError:
                    continue  # closed already
        self._backlog.end(self._way, why)

    def _pass_on(self) -> str:
        # Locals: this loop is the latency of every message.
        put, way, source, sink = self._backlog.append_data, self._way, self._source, self._sink
        while True:
            try:
                data = os.read(source, READ_BYTES)
            except BlockingIOError:  # another process made the shared pipe non-blocking
                select.select([source], [], [])
                continue
            except OSError as error:
                return f"it can no longer be read: {error.strerror or error}"
            if not data:
                return ""
            self.delivering = True
            put(way, data)
            if self._recording is not None:  # a tap that is killed now would lose these bytes
                self._recording.wait(_MAX_RECORDING_WAIT_S)
                self._recording = None
            try:
                _write_all(sink, data)
            except OSError:
                return "the reader has ended; the last messages may not have arrived"
            self.passed += 1
            self.delivering = False


def _write_all(sink: int, data: bytes) -> None:
    written = 0
    size = len(data)
    while written < size:
        try:
            written += os.write(sink, memoryview(data)[written:] if written else data)
        except BlockingIOError:
            select.select([], [sink], [])


# Opens the window on a tap's capture, detached from client and server.


def open_window(path: str, say: Callable[[str], None]) -> subprocess.Popen[bytes] | None:
    """Starts the window as a detached process: no pipe, terminal or process group is shared with the tap."""
    if sys.platform not in ("win32", "darwin") and not any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY"))):
        say(
            "There is no display for the window. The MCP client may not pass DISPLAY to its servers: "
            f'set it under "env", or open {path} yourself.'
        )
        return None
    frozen = bool(getattr(sys, "frozen", False))
    words = [program_file(), *(() if frozen else ("-m", "inspector")), "window", "--standalone", path]
    # DETACHED_PROCESS and CREATE_NEW_PROCESS_GROUP, which the subprocess module names only on Windows.
    flags = 0x8 | 0x200 if sys.platform == "win32" else 0
    null = subprocess.DEVNULL
    try:
        return subprocess.Popen(
            words, stdin=null, stdout=null, stderr=null, start_new_session=True, creationflags=flags
        )
    except OSError as error:
        say(f"The window cannot be opened: {error.strerror or error}. The capture is {path}.")
        return None


QUIET_S = 0.5
"""Seconds of silence after the server's exit that end its output: its children may keep the pipe open."""
NOT_FOUND, NOT_RUN, BAD_USAGE = 127, 126, 2
"""Exit codes of a shell for a missing and a failing command, and ours for bad arguments."""

# Windows lacks most of these, and other systems lack SIGBREAK.
_SIGNALS = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGBREAK")
    if hasattr(signal, name)
)
_FROM_KERNEL = 0x80  # SI_KERNEL: Ctrl+C at a terminal, which the whole group receives
_SWITCH_S = 0.00005  # longest wait of a pump for the recorder's thread, in seconds
_STEP_S = 0.02


def print_notice(sentence: str) -> None:
    """Prints a sentence on standard error, with control characters escaped."""
    shown = "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in sentence)
    try:
        os.write(2, f"context-inspector tap: {shown}\n".encode(errors="backslashreplace"))
    except OSError:
        return  # standard error is closed


def run_tap(arguments: TapArguments) -> int:
    """Runs the server until it ends. Returns its exit code, negative for the signal that killed it."""
    try:
        # Claimed before the server starts: if the capture is refused, the server must not run at all.
        path, is_made, hold, is_beside = claim_file(arguments.output, arguments.command[0], append=arguments.append)
    except NotPossibleError as error:
        print_notice(str(error))
        return BAD_USAGE
    if is_beside:
        print_notice(f"{arguments.output} has an earlier capture; this one is written to {path}.")
    relay = _Relay(arguments.command)
    code = relay.start()
    if code is not None:
        # A program that does not exist leaves no empty capture behind.
        hold.release()
        if is_made:
            Path(path).unlink()
        return code
    return relay.run(path, hold, append=arguments.append, show=arguments.show)


def end_as(code: int) -> None:
    """Ends this process like the server: with its exit code, or by the signal that killed it."""
    if code < 0 and sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # one core file is enough
        with suppress(OSError):  # SIGKILL has no handler
            # The client sees the same wait status as without a tap: a shell's 128 + n would be another one.
            signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [-code])
        os.kill(os.getpid(), -code)
        code = 128 - code  # the signal did not kill this process
    # Skips joining threads that block in a read.
    os._exit(code)


class _Relay:
    """One server and its two pumps."""

    def __init__(self, command: tuple[str, ...]) -> None:
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []  # signals that came before the server was started
        self._given_up = False
        self._window: subprocess.Popen[bytes] | None = None
        self._handled: list[int] = []

    def start(self) -> int | None:
        """Starts the server. Returns None, or an exit code if it cannot be started."""
        self._catch_signals()
        words = list(self._command)
        if sys.platform == "win32":
            import shutil

            words[0] = shutil.which(words[0]) or words[0]  # npx is npx.cmd there
        try:
            # The server inherits the client's descriptors; Python's own are not inheritable.
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, close_fds=False,
                preexec_fn=_end_with_parent(),
            )  # fmt: skip
        except FileNotFoundError:
            print_notice(f"There is no program {words[0]}.")
            return NOT_FOUND
        except (OSError, ValueError) as error:
            print_notice(f"{words[0]} cannot be started: {getattr(error, 'strerror', None) or error}.")
            return NOT_RUN
        # After the start, so that the server has its own copies.
        _close_inherited()
        # A client may end its server while that is still starting; the signal would be lost.
        for number in self._early:
            self._pass_on(number)
        return None

    def run(self, path: str, hold: FileHold, *, append: bool, show: bool) -> int:
        """Relays until the server ends. Returns its exit code."""
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        # Python's default of 5 ms would delay every message while the recorder computes.
        sys.setswitchinterval(_SWITCH_S)
        exact = hasattr(signal, "sigwaitinfo") and bool(self._handled)
        if exact:
            # Blocked signals stay pending for `sigwaitinfo`, which also tells their origin. A handler would not.
            signal.pthread_sigmask(signal.SIG_BLOCK, [*self._handled, signal.SIGCHLD])
        backlog = Backlog()
        recorder = TapRecorder(Path(path), backlog, origin=self._origin, say=print_notice, append=append, hold=hold)
        began, to_server, to_client = recorder.began, _closer(process.stdin.close), _closer(process.stdout.close)
        pumps = (
            Pump(CLIENT, 0, process.stdin.fileno(), backlog, close=to_server, recording=began),
            Pump(SERVER, process.stdout.fileno(), 1, backlog, close=to_client, recording=began),
        )
        for pump in pumps:
            pump.start()
        recorder.start()
        if show:
            self._show(path, recorder)
        code = self._wait_with_signals(process) if exact else process.wait()
        if exact:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [*self._handled, signal.SIGCHLD])
        # The client's bytes come first: a slow disk must not delay the last answer.
        self._drain(pumps[SERVER])
        recorder.close(_outcome(code), code, is_hurried=lambda: self._given_up)
        return code

    # Signals

    def _catch_signals(self) -> None:
        if hasattr(signal, "SIGPIPE"):
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # a closed pipe is noticed at the write
        for number in _SIGNALS:
            if signal.getsignal(number) is signal.SIG_IGN:  # nohup: the server inherits it too
                continue
            signal.signal(number, lambda number, _frame: self._on_signal(number))
            self._handled.append(number)

    def _on_signal(self, number: int) -> None:
        process = self._process
        if process is None:
            self._early.append(number)
        # The server has ended, so the signal means: wait for neither a slow reader nor the backlog.
        elif process.returncode is not None:
            self._given_up = True
        elif not is_from_terminal(number):
            self._pass_on(number)

    def _wait_with_signals(self, process: subprocess.Popen[bytes]) -> int:
        """Waits for the server's end and passes signals on, except a terminal's: the server gets them itself."""
        waited = [*self._handled, signal.SIGCHLD]
        while (code := process.poll()) is None:
            info = signal.sigwaitinfo(waited)
            if info.si_signo == signal.SIGCHLD:
                # The window is a child too: unless it is polled, it stays a zombie.
                if self._window is not None:
                    self._window.poll()
            elif info.si_code != _FROM_KERNEL:
                self._pass_on(info.si_signo)
        return code

    def _pass_on(self, number: int) -> None:
        process = self._process
        assert process is not None
        try:
            process.send_signal(number)
        except (OSError, ValueError):
            return  # it has ended, or Windows knows no such signal

    # End

    def _drain(self, pump: Pump) -> None:
        """Delivers the server's last output, however slowly the client reads; a signal cuts this short."""
        passed, since = -1, time.monotonic()
        while pump.thread.is_alive() and not self._given_up:
            pump.thread.join(_STEP_S)
            now = time.monotonic()
            if pump.passed != passed or pump.delivering:
                passed, since = pump.passed, now
            elif now - since > QUIET_S:
                return

    # Header and window

    def _origin(self) -> dict[str, object]:
        from inspector.tap.command_words import shown_command

        return {"source": "tap", "command": shown_command(self._command)}

    def _show(self, path: str, recorder: TapRecorder) -> None:

        # The window reads the header, so the file must have it. A failing disk must not block the relay.
        recorder.capture.begun.wait(5)
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [*self._handled, signal.SIGCHLD])  # the window inherits the mask
        self._window = open_window(path, print_notice)
        if hasattr(signal, "sigwaitinfo"):
            signal.pthread_sigmask(signal.SIG_BLOCK, [*self._handled, signal.SIGCHLD])


def _closer(close: Callable[[], None]) -> Callable[[int], None]:
    """Returns a function that closes one end of a pump: file objects by `close`, our own by the null device."""

    def closed(end: int) -> None:
        if end > 2:
            close()
            return
        null = os.open(os.devnull, os.O_RDWR)  # so that no other file gets the number
        os.dup2(null, end)
        os.close(null)

    return closed


def is_from_terminal(number: int) -> bool:
    """Returns True if a signal most likely came from a terminal's keys, for systems that do not tell."""
    if sys.platform == "win32":
        return True  # a console's events reach all its processes
    if number not in (signal.SIGINT, signal.SIGQUIT):
        return False
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        # The terminal sends its keys to the whole foreground group, so the server has the signal already.
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _end_with_parent() -> Callable[[], None] | None:
    """Returns a hook that ends the server if the tap is killed by SIGKILL; None where the system cannot."""
    if not sys.platform.startswith("linux"):
        return None
    import ctypes

    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def end_with_us() -> None:
        prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
        # The tap may have died before this call, and then no signal follows.
        if os.getppid() != parent:
            os._exit(1)

    return end_with_us


def _close_inherited() -> None:
    """Closes descriptors inherited for the server: a client that waits for their end would wait for the tap, too."""
    try:
        held = [int(name) for name in os.listdir("/dev/fd")]  # noqa: PTH208 - pathlib costs a start 20 ms
    except (OSError, ValueError):
        return  # Windows
    for file in held:
        with suppress(OSError):
            if file > 2 and os.get_inheritable(file):
                os.close(file)


def _outcome(code: int) -> str:
    if code >= 0:
        return f"the server ended with exit code {code}"
    try:
        return f"the server was ended by {signal.Signals(-code).name}"
    except ValueError:
        # Python has no names for most real-time signals.
        return f"the server was ended by signal {-code}"
