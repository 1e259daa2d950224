"""Parses outputs of Codex's tools: the program's leading lines, exit codes and times.

A shell's output begins with `Exit code: 1` and `Wall time: 0.2 seconds`, or ends as JSON with `metadata`. `exec` runs
JavaScript: its output begins with `Script completed` and `Wall time 0.2 seconds`. The script's own output follows,
often as JSON with another `exit_code`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from inspector.protocol.header import NotAnObjectError, decode_json

_LINE = re.compile(
    r"(?:Script (?P<script>completed|failed|terminated|running)\b[^\n]{0,200}"
    r"|Exit code: (?P<code>-?\d{1,10})|Process exited with code (?P<ended>-?\d{1,10})"
    r"|Wall time:? (?P<wall>\d{1,9}(?:\.\d{1,9})?) seconds?"
    r"|(?:Chunk ID|Original token count|Total output lines|Warning): [^\n]{0,200}"
    r"|Process running with session ID [^\n]{0,80})"
    r"(?:\n|\Z)"
)
_OUTPUT = "Output:"
_MOST_LINES = 10
_OF_COMMANDS = ("output", "stdout", "stderr", "aggregated_output", "chunk_id", "wall_time_seconds", "duration_ms")
"""Keys that, with an exit code, identify an object as a command's result."""
_PRINTED = ("output", "aggregated_output", "stdout", "stderr")


class ToolOutput(NamedTuple):
    """Output of a tool.

    Attributes:
        text: its printed text.
        code: a non-zero exit code, if any.
        failed: the output reports a failure.
        took_s: working time in seconds, if any.
    """

    text: str
    code: int | None = None
    failed: bool = False
    took_s: float | None = None


def read_output(output: object) -> ToolOutput:
    """Reads an output: a text, blocks of text, or an object with `content` and `success`. Never raises."""
    refused = isinstance(output, Mapping) and output.get("success") is False
    if isinstance(output, Mapping) and "content" in output:
        output = output["content"]
    texts = [*_texts(output)]
    if not texts:
        return ToolOutput("", failed=refused)
    head = _read_head(texts[0])
    printed = [_printed(text) for text in (head.text, *texts[1:]) if text]
    # The first failing command gives the exit code.
    codes = [one.code for one in (head, *printed) if one.code]
    took = head.took_s if head.took_s is not None else next((one.took_s for one in printed if one.took_s), None)
    failed = refused or head.failed or any(one.failed for one in printed)
    return ToolOutput("\n".join(one.text for one in printed), codes[0] if codes else None, failed, took)


def _texts(output: object) -> Iterator[str]:
    if isinstance(output, str):
        yield output
    for block in output if isinstance(output, list) else ():
        text = block.get("text") if isinstance(block, Mapping) else block
        if isinstance(text, str):
            yield text


def _read_head(text: str) -> ToolOutput:
    """Returns the program's leading lines of an output, and the rest."""
    place, took, code, failed = 0, None, None, False
    # The limit keeps a text with many such lines from being taken as a head.
    for _ in range(_MOST_LINES):
        found = _LINE.match(text, place)
        if found is None:
            break
        place = found.end()
        written = found["code"] or found["ended"]
        code = code or (int(written) if written is not None else None)
        failed |= found["script"] in ("failed", "terminated")
        took = float(found["wall"]) if found["wall"] is not None else took
    rest = text[place:]
    if place and rest.startswith(_OUTPUT):
        rest = rest[len(_OUTPUT) :].removeprefix("\n")
    return ToolOutput(rest, code or None, failed or bool(code), took)


def _printed(text: str) -> ToolOutput:
    """Returns one text, or the output in a command's JSON result."""
    # A byte search first: an output may have megabytes.
    if not text.lstrip().startswith("{") or '"exit_code"' not in text:
        return ToolOutput(text)
    try:
        value = decode_json(text.strip().encode("utf-8", "replace"))
    except NotAnObjectError:
        return ToolOutput(text)
    about = value.get("metadata") if isinstance(value, dict) else None
    about = about if isinstance(about, Mapping) else value if isinstance(value, dict) else {}
    code = about.get("exit_code")
    of_command = about is not value or any(key in about for key in _OF_COMMANDS)
    if not isinstance(value, dict) or not of_command or not (code is None or isinstance(code, int)):
        return ToolOutput(text)
    said = "\n".join(one.rstrip("\n") for key in _PRINTED if isinstance(one := value.get(key), str) and one)
    return ToolOutput(said, code or None, bool(code), _seconds(about))


def _seconds(about: Mapping[str, Any]) -> float | None:
    for key, part in (("wall_time_seconds", 1.0), ("duration_seconds", 1.0), ("duration_ms", 1e-3)):
        value = about.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _MOST_SECONDS:
            return value * part
    return None


_MOST_SECONDS = 1e9
