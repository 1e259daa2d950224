"""A context as a JSON file: the messages, and beside them the tools, as chat completion interfaces take them."""

from __future__ import annotations

import errno
import itertools
import json
import os
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

from inspector.analysis.views.model_context.messages import messages_of, tools_of
from inspector.analysis.views.model_context.story import Moment
from inspector.base.atomic_files import in_place_of
from inspector.protocol.secrets.masking import mask_secrets


def conversation_json(moment: Moment, *, secrets: bool = False) -> str:
    """The whole as text: an object with `messages`, and `tools` where the model was told of some.

    Args:
        moment: what stands in the context.
        secrets: give secrets in clear; else they are masked.
    """
    return "".join(conversation_parts(moment, secrets=secrets))


def write_conversation(moment: Moment, target: Path, *, secrets: bool = False) -> Generator[int]:
    """Write it to a file, in place of what is there; steps of one message each, with the bytes written so far.

    Closed before its end it leaves what was there before.

    Raises:
        OSError: the file cannot be written, or is the log itself.
    """
    target = Path(os.path.realpath(target))
    if any(target.exists() and target.samefile(source.path) for source in moment.context.analysis.capture.sources):
        raise OSError(errno.EEXIST, "that is the log itself", str(target))
    yield from write_parts(conversation_parts(moment, secrets=secrets), target)


def conversation_parts(moment: Moment, *, secrets: bool = False) -> Iterator[str]:
    """The same piece by piece, as a context may be large."""
    tools: list[Any] = tools_of(moment)
    return parts_of(messages_of(moment, secrets=secrets), tools if secrets else mask_secrets(tools))


def parts_of(messages: Iterator[Any], tools: Sequence[Any] = ()) -> Iterator[str]:
    """An object with `messages`, and `tools` where there are any, piece by piece."""
    yield '{\n  "messages": ['
    yield from _items(messages)
    if tools:
        yield '],\n  "tools": ['
        yield from _items(iter(tools))
    yield "]\n}\n"


def write_parts(parts: Iterator[str], target: Path) -> Generator[int]:
    """Write text to a file, in place of what is there; steps with the bytes written so far.

    Closed before its end it leaves what was there before.

    Raises:
        OSError: the file cannot be written.
    """
    size = 0
    with in_place_of(target) as file:
        for text in parts:
            size += file.write(text.encode("utf-8", "replace"))
            yield size


def _items(items: Iterator[Any]) -> Iterator[str]:
    """Elements of an array, each on lines of its own."""
    count = itertools.count()
    empty = True
    for item in items:
        text = json.dumps(item, ensure_ascii=False, indent=2).replace("\n", "\n    ")
        empty = False
        yield f"{',' if next(count) else ''}\n    {text}"
    yield "" if empty else "\n  "
