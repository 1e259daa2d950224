"""Extracts the shell command of a call by the shape of its arguments: a text, or a program with arguments."""

from __future__ import annotations

import re
import shlex

_RUNNING = re.compile(r"bash|shell|exec|terminal|run_command|powershell", re.IGNORECASE)
_KEYS = ("command", "cmd", "commandLine", "script")
_SHELL = re.compile(r"(?:.*/)?(?:ba|z|da|k)?sh")
_SCRIPT = re.compile(r"(?:/\S{1,80}/)?(?:ba|z|da|k)?sh -l?c ['\"]")
"""Beginning of a line that runs a quoted script in a shell."""


def may_run_commands(tool: str) -> bool:
    """Returns True for the name of a tool that runs commands of a shell."""
    return _RUNNING.search(tool) is not None


def command_of(tool: str | None, arguments: object) -> tuple[str, str] | None:
    """Returns the command of a call and its argument's name, if any. Never raises."""
    if tool is None or not isinstance(arguments, dict) or not may_run_commands(tool):
        return None
    for key in _KEYS:
        given = arguments.get(key)
        if isinstance(given, str) and given.strip():
            return _script_in(given), key
        # Some tools take the words of a command as a list.
        if isinstance(given, list) and given and all(isinstance(word, str) for word in given):
            return _joined(given), key
    return None


def _script_in(line: str) -> str:
    """Returns the script of a line that only runs it in a shell, such as `bash -lc 'make'`; else the line."""
    if _SCRIPT.match(line) is None or line[-1] not in "'\"":
        return line
    try:
        words = shlex.split(line)
    except ValueError:
        return line
    return _joined(words) if len(words) == 3 else line


def _joined(words: list[str]) -> str:
    """Returns words of a command as a line; of a shell with a script, the script."""
    # Options may be joined, as in `-lc`.
    if len(words) >= 3 and _SHELL.fullmatch(words[0]) and words[1].startswith("-") and words[1].endswith("c"):
        return words[2]
    return shlex.join(words)
