"""Parses arguments and starts the window or a command; only commands with a display import Qt."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import signal
import sys
import traceback
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from inspector.base.display_check import has_display
from inspector.base.exit_codes import OUR_FAULT
from inspector.base.targets import is_session, target_path
from inspector.cli.arguments import FormatFile, LogFiles, ToolAliasTexts, fail
from inspector.cli.commands import COMMANDS, app
from inspector.diagnostics import hard_crashes
from inspector.plugins.exit_bound import bound_exit
from inspector.startup.window_start import CannotStartError, enable_developer_menu, mask_secrets_in, start_window

Targets = Annotated[list[str] | None, typer.Argument(metavar="[FILE | ws://...]...", help="Logs and gateways.")]
Developer = Annotated[bool, typer.Option("--developer", help="Show the Developer menu, and log more.")]
NewWindow = Annotated[bool, typer.Option("--new-window", help="Open a new window, even if one is free.")]
Together = Annotated[
    bool, typer.Option("--together", help="Merge all FILEs, or all logs of a folder, into one document, by time.")
]
Runs = Annotated[bool, typer.Option("--runs", help="Open a folder of logs as a table of runs.")]
Standalone = Annotated[
    bool, typer.Option("--standalone", help="Run as a separate process, and wait until its windows are closed.")
]
ThemeName = Annotated[str, typer.Option("--theme", metavar="NAME", help="system, light or dark.")]

_DEMO_SECONDS_WITHOUT_DISPLAY = 20.0


def _without_display() -> None:
    # Must be set before Qt is imported.
    os.environ["QT_QPA_PLATFORM"] = "offscreen"


def _validated_theme(name: str) -> str:
    if name not in ("system", "light", "dark"):
        fail(f"There is no theme {name}; choose system, light or dark.")
    return name


def _alias_texts(texts: list[str] | None) -> list[str]:
    """Returns the rules of `--tool-alias` after validation."""
    if not texts:
        return []
    from inspector.cli.opening import aliases_of

    return [rule.text for rule in aliases_of(texts).rules]


@app.command("window", hidden=True)
def window_command(
    targets: Targets = None,
    together: Together = False,
    runs: Runs = False,
    new_window: NewWindow = False,
    standalone: Standalone = False,
    theme: ThemeName = "",
    tool_alias: ToolAliasTexts = None,
    developer: Developer = False,
) -> None:
    """Open the window: on a log, on a gateway, or on the start page.

    If the program is already running, it opens the window. Options for one run only, and logs from a pipe, start a
    separate process.
    """
    texts = _alias_texts(tool_alias)
    if together and runs:
        fail("--together and --runs cannot be combined.")
    try:
        code = start_window(
            targets or [], new_window=new_window, standalone=standalone,
            theme=_validated_theme(theme) if theme else None, tool_aliases=texts, developer=developer,
            together=together, runs=runs,
        )  # fmt: skip
    except CannotStartError as error:
        fail(str(error))
    raise typer.Exit(code)


@app.command("last")
def last_command(new_window: NewWindow = False) -> None:
    """Open the window on the session that a coding agent wrote to last, with its sub-agents."""
    from inspector.base.targets import session_target
    from inspector.sources.agent_sessions.lookup import SessionNameError, newest_session

    try:
        newest = newest_session()
        code = start_window([session_target(newest.path)], new_window=new_window)
    except (SessionNameError, CannotStartError) as error:
        fail(str(error))
    raise typer.Exit(code)


@app.command("demo")
def demo_command(
    seconds: Annotated[float | None, typer.Option("--seconds", min=1, help="Stop after this time.")] = None,
    theme: ThemeName = "",
    developer: Developer = False,
) -> None:
    """Watch scripted agents talk through a gateway of their own, live."""
    screenshot = None
    if not has_display():
        _without_display()
        seconds = seconds or _DEMO_SECONDS_WITHOUT_DISPLAY
        screenshot = str(Path("demo-screenshot.png").resolve())
        typer.echo(f"There is no display: the same window runs unseen for {seconds:g} s and leaves a screenshot.")
    chosen_theme = _validated_theme(theme) if theme else None
    enable_developer_menu(developer)
    with hard_crashes.record_crashes(mask_secrets_in):
        # Imported late: Qt takes long to load, and other commands do without.
        from inspector.ui.app.application import run_demo

        code = run_demo(seconds=seconds, screenshot=screenshot, theme=chosen_theme)
    if screenshot and code == 0:
        typer.echo(f"Screenshot: {screenshot}")
    raise typer.Exit(code)


@app.command("screenshot")
def screenshot_command(
    files: LogFiles,
    output: Annotated[str, typer.Option("-o", "--output", metavar="PNG", help="Picture to write.")],
    display_filter: Annotated[str, typer.Option("-Y", "--filter", metavar="FILTER", help="Display filter.")] = "",
    select: Annotated[int | None, typer.Option("--select", metavar="NO", help="Message to select.")] = None,
    preset: Annotated[str | None, typer.Option("--preset", metavar="NAME", help="Filter preset.")] = None,
    size: Annotated[str, typer.Option("--size", metavar="WxH", help="Window size.")] = "1280x800",
    theme: ThemeName = "light",
    hints: Annotated[bool, typer.Option("--hints", help="Show context hints.")] = False,
    expand: Annotated[bool, typer.Option("--expand", help="Expand the selected collapsed result.")] = False,
    view: Annotated[
        str | None,
        typer.Option("--view", metavar="TITLE", help="A tab, such as Overview or Model sees. Default: Messages."),
    ] = None,
    panel: Annotated[
        str | None,
        typer.Option("--panel", metavar="TITLE", help="Findings, Marks, Sources, Waiting, Latency, Tokens, Waste."),
    ] = None,
    compare: Annotated[
        int | None,
        typer.Option("--compare", metavar="NO", help="With the view Model sees: the message to compare with."),
    ] = None,
    other: Annotated[
        str | None,
        typer.Option("--with", metavar="LOG", help="Another run, shown beside this one in the view Compare."),
    ] = None,
    participant: Annotated[
        str | None, typer.Option("--participant", metavar="NAME", help="Participant shown in the details.")
    ] = None,
    tool_alias: ToolAliasTexts = None,
    format_file: FormatFile = None,
) -> None:
    """Write a picture of the window on a log."""
    width, cross, height = size.partition("x")
    # Checked before Qt loads, so that a wrong size is reported at once.
    if (
        not cross
        or not width.isdecimal()
        or not height.isdecimal()
        or not 200 <= int(width) <= 8000
        or int(height) > 8000
    ):
        fail(f"{size} is no size; write it as 1280x800.")
    # Imported late for the same reason as Qt: most commands need none of it.
    from inspector.base.targets import session_target
    from inspector.cli.opening import compiled, format_of_file, path_at
    from inspector.survey import is_survey

    reading = format_of_file(format_file).name if format_file is not None else None
    files = [session_target(path_at(file)) if is_session(file) else file for file in files]

    if not any(is_survey(Path(file)) for file in files):  # runs have other fields
        compiled(display_filter)
    aliases = tuple(_alias_texts(tool_alias))
    _without_display()
    from inspector.ui.app.screenshot import Shot, take_screenshot

    with _one_file(files) as file:
        shot = Shot(
            file, output, display_filter, select, preset, int(width), int(height), _validated_theme(theme), hints,
            expand, view, panel, compare, aliases, participant, reading, other,
        )  # fmt: skip
        sentence = take_screenshot(shot)
    if sentence:
        fail(sentence)


@contextlib.contextmanager
def _one_file(files: Sequence[str]) -> Generator[str]:
    """Yields the window's target for a file, or for a list of several."""
    if len(files) == 1:
        yield files[0]
        return
    from inspector.document.source_list import SUFFIX, resolve_choices, write_source_list
    from inspector.document.source_set import SourceChoice
    from inspector.store.files.spool import temporary_folder

    choices = resolve_choices(SourceChoice(target_path(one), is_session=is_session(one)) for one in files)
    with temporary_folder() as folder:
        named = folder / f"{choices[0].path.name} and {len(choices) - 1} more{SUFFIX}"
        write_source_list(named, choices)
        yield str(named)


def main() -> None:
    """Runs the program, and bounds its end."""
    try:
        _run()
    except SystemExit as end:
        bound_exit(end.code)
        raise
    bound_exit(None)


def _run() -> None:
    """Runs the program; an argument that is no command is a file or an address for the window."""
    arguments = sys.argv[1:]
    commands = {*COMMANDS, *(command.name for command in app.registered_commands)}
    if not arguments or (arguments[0] not in commands and arguments[0] not in ("--help", "-h", "--version")):
        arguments = ["window", *arguments]
    if arguments[0] not in ("window", "demo", "record", "tap") and hasattr(signal, "SIGPIPE"):
        # A closed reader, such as `head`, ends a listing quietly, as with any Unix tool. Commands with a connection
        # must not end with it.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if isinstance(sys.stdout, io.TextIOWrapper):  # UTF-8 whatever the encoding of the console or redirection
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace", newline="")
    try:
        try:
            app(arguments, prog_name="context-inspector")
        finally:
            if sys.stdout is not None:
                with contextlib.suppress(BrokenPipeError):
                    sys.stdout.flush()
    except Exception as error:  # noqa: BLE001 - the program reports any error and exits
        # Without a file name, the failed write was that of standard output.
        if isinstance(error, OSError) and error.filename is None and error.errno in _NO_ROOM:
            _exit_unwritten(error)
        traceback.print_exc()
        sys.exit(OUR_FAULT)


# A full disk behind a redirection is the user's to solve, so it is no traceback.
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def _exit_unwritten(error: OSError) -> NoReturn:
    """Ends the program with an error after the output could not be written."""
    with contextlib.suppress(OSError):  # closing flushes the rest once more
        sys.stdout.close()
    sys.stderr.write(f"The answer cannot be written: {error.strerror}. It is incomplete.\n")
    sys.exit(2)
