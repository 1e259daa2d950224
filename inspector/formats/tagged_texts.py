"""Extracts readable text from tagged texts that an agent's program writes in the user's place.

A `<task-notification>` contains `task-id`, `tool-use-id`, `status`, `summary`, `result` and `output-file`,
each in tags; `<command-name>` comes with `command-message` and `command-args`; `<bash-stdout>` with `bash-stderr`.
Texts without such a tag at the beginning, and tags within a text, stay unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from inspector.protocol.derived_messages import Payload

_PART = re.compile(r"<([a-z][a-z_-]{1,40})(?: [^<>]{0,400})?>(.*?)(?:</\1>|\Z)", re.DOTALL)
"""One tagged part: name and content; the last of a truncated text extends to its end."""
_BEGINS = re.compile(r"\s{0,40}<([a-z][a-z_-]{1,40})[ >]")
_NAMED = re.compile(r'<teammate-message [^<>]{0,200}?teammate_id="([^"<>]{1,120})"')
_MOST_PARTS = 40


def extract_text(text: str) -> Payload:
    """Returns `text`, the content, and `tag`, the tag; only the text if it has none."""
    begins = _BEGINS.match(text)
    reader = _READERS.get(begins[1]) if begins is not None else None
    parts = dict(reversed(_parts(text))) if reader is not None else {}
    if begins is None or reader is None or begins[1] not in parts:
        return {"text": text}
    words = reader(text, parts).strip()
    return {"text": words, "tag": begins[1]} if words else {"text": text}


def _parts(text: str) -> list[tuple[str, str]]:
    """Returns the tagged parts at the beginning of a text."""
    found: list[tuple[str, str]] = []
    place = 0
    # The limit stops a text with very many tags.
    while len(found) < _MOST_PARTS:
        while place < len(text) and text[place].isspace():
            place += 1
        part = _PART.match(text, place) if text.startswith("<", place) else None
        if part is None:
            return found
        found.append((part[1], part[2].strip()))
        place = part.end()
    return found


def without_tags(text: str) -> str:
    """Returns a text without its leading tagged parts; the text itself if it has none."""
    place = 0
    while (part := _PART.match(text, place)) is not None:
        place = part.end()
        while place < len(text) and text[place].isspace():
            place += 1
    return text[place:] if place else text


def _task(text: str, parts: dict[str, str]) -> str:
    """Returns the outcome of a background task: its summary and result."""
    about = dict(_parts(parts["task-notification"]))
    head = about.get("summary") or f"task {about.get('task-id', '')} {about.get('status', '')}".strip()
    files = [f"output in {about['output-file']}"] if "output-file" in about and "result" not in about else []
    return "\n".join(one for one in (head, about.get("event"), about.get("result"), *files, without_tags(text)) if one)


def _command(_text: str, parts: dict[str, str]) -> str:
    """Returns a command of the program as typed."""
    name = parts.get("command-name") or parts.get("command-message") or ""
    return f"{name} {parts.get('command-args', '')}".strip()


def _printed(text: str, parts: dict[str, str]) -> str:
    texts = [
        parts.get(name, "") for name in ("local-command-stdout", "local-command-stderr", "bash-stdout", "bash-stderr")
    ]
    return "\n".join(one for one in (*texts, without_tags(text)) if one)


def _shell(text: str, parts: dict[str, str]) -> str:
    return "\n".join(one for one in (f"! {parts['bash-input']}", _printed(text, parts)) if one)


def _mate(text: str, parts: dict[str, str]) -> str:
    named = _NAMED.match(text)
    return f"{named[1]}: {parts['teammate-message']}" if named is not None else parts["teammate-message"]


def _inner(text: str, _about: dict[str, str]) -> str:
    return "\n".join(one for one in (*(said for _, said in _parts(text)), without_tags(text)) if one)


_PLAIN = (
    "system-reminder", "local-command-caveat", "user-memory-input", "ide_opened_file", "ide_selection",
    "ide_diagnostics", "tool_use_error", "persisted-output", "subagent_notification", "turn_aborted",
    "environment_context", "user_instructions",
)  # fmt: skip
"""Tags that contain only text."""
_READERS: dict[str, Callable[[str, dict[str, str]], str]] = {
    "task-notification": _task, "teammate-message": _mate, "bash-input": _shell,
    **dict.fromkeys(("command-name", "command-message"), _command),
    **dict.fromkeys(("local-command-stdout", "local-command-stderr", "bash-stdout", "bash-stderr"), _printed),
    **dict.fromkeys(_PLAIN, _inner),
}  # fmt: skip
"""Readers by the first tag."""
