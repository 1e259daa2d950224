"""Starts the window for parsed arguments, or for a plain command line without the parser.

Neither Qt nor the parser is imported before it is needed.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from inspector.base import gc_control, instance_lock
from inspector.base.display_check import has_display, is_display_reachable
from inspector.base.exit_codes import OUR_FAULT
from inspector.base.targets import (
    SESSION_PREFIX,
    FolderView,
    folder_target,
    is_session,
    session_file,
    session_target,
    target_path,
)
from inspector.diagnostics import hard_crashes

WRONG_USE = 2


class CannotStartError(Exception):
    """No window can be shown; the text is a sentence for the user."""


def start_without_parser(request: instance_lock.OpenRequest) -> NoReturn:
    """Starts the window for a plain command line, without the parser; ends the process.

    Args:
        request: from `instance_lock.quick_request`.
    """
    try:
        sys.exit(start_window(request.targets, new_window=request.new_window))
    except CannotStartError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(WRONG_USE)
    except Exception:  # noqa: BLE001 - the program reports any error and exits
        traceback.print_exc()
        sys.exit(OUR_FAULT)


def start_window(
    targets: Sequence[str], *, new_window: bool = False, standalone: bool = False, theme: str | None = None,
    tool_aliases: Sequence[str] = (), developer: bool = False, together: bool = False,
    runs: bool = False,
) -> int:  # fmt: skip
    """Opens the window and runs until the last one closes, or hands over to the running program.

    Args:
        targets: files and addresses.
        new_window: open a new window even if one is free.
        standalone: use a separate process.
        theme: for this run.
        tool_aliases: for this run, validated rules.
        developer: show the Developer menu, and log more.
        together: open all files, or the logs of each folder, in one window.
        runs: open folders as tables of runs.

    Returns:
        The exit code.

    Raises:
        CannotStartError: if no window can be shown.
    """
    targets = [_session_at(target) if is_session(target) else target for target in targets]
    if "-" in targets and sys.stdin is None:
        raise CannotStartError("Standard input is closed.")
    for target in targets:
        # Sessions and addresses are no files.
        if target == "-" or is_session(target) or target.startswith(("ws://", "wss://")):
            continue
        if not _exists(target):
            raise CannotStartError(
                f"There is no file {target}, and no command of that name; see context-inspector --help."
            )
    if together and len(targets) > 1:
        targets = [_source_list(targets)]
    elif together or runs:
        view: FolderView = "runs" if runs else "document"
        targets = [folder_target(Path(one), view) if Path(one).is_dir() else one for one in targets]
    if not has_display():
        raise CannotStartError(
            "There is no display to show a window on. The commands summary, list, contexts and show need none."
        )
    # Qt ends the whole process if the display does not answer, so it is asked first.
    if not is_display_reachable():
        raise CannotStartError(
            f"The display {os.environ['DISPLAY']} does not answer. Is it gone, or is DISPLAY another session's?"
        )
    enable_developer_menu(developer)
    # A window with its own settings cannot be part of the running program.
    own = standalone or bool(theme or tool_aliases or developer) or _any_stream(targets)
    # Before Qt loads, since handing over should be instant.
    first = (
        None if own else instance_lock.become_first_or_exit(instance_lock.request_for(targets, new_window=new_window))
    )
    with hard_crashes.record_crashes(mask_secrets_in):
        with gc_control.no_collection():  # permanent classes created by the import
            from inspector.ui.app.application import run_windows

            gc_control.freeze_and_trim()
        return run_windows(
            list(targets), theme=theme, tool_aliases=tool_aliases, standalone=own, new_window=new_window, first=first
        )


def _source_list(targets: Sequence[str]) -> str:
    """Returns a list file of sources that open as one document.

    Raises:
        CannotStartError: if one of them is no file, or the list cannot be written.
    """
    from inspector.document.source_list import own_source_list
    from inspector.document.source_set import SourceChoice

    if _any_stream(targets) or any(target.startswith(("ws://", "wss://")) for target in targets):
        raise CannotStartError("Only files, folders and sessions can be opened together; add others in the window.")
    try:
        return str(own_source_list([SourceChoice(target_path(one), is_session=is_session(one)) for one in targets]))
    except OSError as error:
        raise CannotStartError(f"They cannot be opened together: {error.strerror or error}.") from None


def _session_at(target: str) -> str:
    """Resolves a session's id to its file.

    Raises:
        CannotStartError: if there is none, or several.
    """
    from inspector.sources.agent_sessions.lookup import SessionNameError, session_named

    if (path := session_file(target)) is not None:
        return session_target(path)
    try:
        return session_target(session_named(target.removeprefix(SESSION_PREFIX)).path)
    except SessionNameError as error:
        raise CannotStartError(str(error)) from None


def enable_developer_menu(asked: bool) -> None:
    if asked:
        os.environ["CONTEXT_INSPECTOR_DEVELOPER"] = "1"


def mask_secrets_in(text: str) -> str:
    from inspector.protocol.secrets.masking import mask_text  # imported late: most starts do not need it

    return mask_text(text)


def _exists(target: str) -> bool:
    try:
        return Path(target).exists()
    except (OSError, ValueError):  # too long, or with a character that no file name has
        return False


def _any_stream(targets: Sequence[str]) -> bool:
    files = [Path(target) for target in targets if "://" not in target and not is_session(target)]
    if not files:
        return False
    from inspector.sources.inputs import is_stream  # imported late, with all readers

    return any(map(is_stream, files))
