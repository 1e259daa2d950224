"""Writes a context as JSON: messages, and tools, in the format of chat completion APIs."""

from __future__ import annotations

import errno
import itertools
import json
import os
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

from inspector.analysis.views.model_context.chat_messages import messages_of, tools_of
from inspector.analysis.views.model_context.reconstruction import Moment
from inspector.base.atomic_files import open_replacement
from inspector.base.paths import is_same_file
from inspector.protocol.secrets.masking import mask_secrets


def write_conversation(moment: Moment, target: Path, *, secrets: bool = False) -> Generator[int]:
    """Writes it to a file, replacing it; yields after each message the bytes written so far.

    Closed early, it leaves the former file unchanged.

    Raises:
        OSError: the file cannot be written, or is the log itself.
    """
    target = Path(os.path.realpath(target))
    # Exporting onto the open log would destroy it.
    if any(is_same_file(source.path, target) for source in moment.context.analysis.capture.sources):
        raise OSError(errno.EEXIST, "that is the log itself", str(target))
    yield from write_parts(conversation_parts(moment, secrets=secrets), target)


def conversation_parts(moment: Moment, *, secrets: bool = False) -> Iterator[str]:
    """Yields the same in pieces, as a context may be large."""
    tools: list[Any] = tools_of(moment)
    return parts_of(messages_of(moment, secrets=secrets), tools if secrets else mask_secrets(tools))


def parts_of(messages: Iterator[Any], tools: Sequence[Any] = ()) -> Iterator[str]:
    """Yields an object with `messages`, and with `tools` if there are any, in pieces."""
    yield '{\n  "messages": ['
    yield from _items(messages)
    if tools:
        yield '],\n  "tools": ['
        yield from _items(iter(tools))
    yield "]\n}\n"


def write_parts(parts: Iterator[str], target: Path) -> Generator[int]:
    """Writes text to a file, replacing it; yields the bytes written so far.

    Closed early, it leaves the former file unchanged.

    Raises:
        OSError: the file cannot be written.
    """
    size = 0
    with open_replacement(target) as file:
        for text in parts:
            size += file.write(text.encode("utf-8", "replace"))
            yield size


def _items(items: Iterator[Any]) -> Iterator[str]:
    """Yields array elements, each on separate lines."""
    count = itertools.count()
    empty = True
    for item in items:
        text = json.dumps(item, ensure_ascii=False, indent=2).replace("\n", "\n    ")
        empty = False
        yield f"{',' if next(count) else ''}\n    {text}"
    yield "" if empty else "\n  "
