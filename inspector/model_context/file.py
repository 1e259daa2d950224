"""A context as a JSON file: the messages, and beside them the tools, as chat completion interfaces take them."""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from inspector.file_modes import mode_for
from inspector.model_context.messages import messages_of, tools_of
from inspector.model_context.story import Moment
from inspector.protocol.secrets import mask_secrets


def conversation_json(moment: Moment, *, secrets: bool = False) -> str:
    """The whole as text: an object with `messages`, and `tools` where the model was told of some.

    Args:
        moment: what stands in the context.
        secrets: give secrets in clear; else they are masked.
    """
    return "".join(conversation_parts(moment, secrets=secrets))


def write_conversation(moment: Moment, target: Path, *, secrets: bool = False) -> Iterator[int]:
    """Write it to a file, in place of what is there; steps of one message each, with the bytes written so far.

    Closed before its end it leaves what was there before.

    Raises:
        OSError: the file cannot be written, or is the log itself.
    """
    target = Path(os.path.realpath(target))
    if any(target.exists() and target.samefile(source.path) for source in moment.context.analysis.capture.sources):
        raise OSError(errno.EEXIST, "that is the log itself", str(target))
    handle, name = tempfile.mkstemp(prefix=".context-inspector-", suffix=".part", dir=target.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            yield from _written(moment, file, secrets=secrets)
        part.chmod(mode_for(target))
        part.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def _written(moment: Moment, file: IO[str], *, secrets: bool) -> Iterator[int]:
    size = 0
    for text in conversation_parts(moment, secrets=secrets):
        size += len(text.encode("utf-8", "replace"))
        file.write(text)
        yield size
    file.flush()  # what does not fit on the disk is said here, not when the file is closed


def conversation_parts(moment: Moment, *, secrets: bool = False) -> Iterator[str]:
    """The same piece by piece, as a context may be large."""
    yield '{\n  "messages": ['
    yield from _items(messages_of(moment, secrets=secrets))
    tools: list[Any] = tools_of(moment)
    if tools:
        yield '],\n  "tools": ['
        yield from _items(iter(tools if secrets else mask_secrets(tools)))
    yield "]\n}\n"


def _items(items: Iterator[Any]) -> Iterator[str]:
    """Elements of an array, each on lines of its own."""
    count = itertools.count()
    empty = True
    for item in items:
        text = json.dumps(item, ensure_ascii=False, indent=2).replace("\n", "\n    ")
        empty = False
        yield f"{',' if next(count) else ''}\n    {text}"
    yield "" if empty else "\n  "
