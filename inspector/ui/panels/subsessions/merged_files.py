"""A merged context as messages JSON: one text, or a file written in steps. No Qt."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

from inspector.protocol.secrets import mask_text

if TYPE_CHECKING:
    from inspector.msp.merged import MergedContext


def messages_json(merged: MergedContext, *, secrets: bool = False) -> str:
    """The whole as text: an object with `messages`, as chat completion interfaces take them.

    Args:
        merged: what would be sent.
        secrets: give secrets in clear; else they are masked.
    """
    return "".join(_parts(merged, secrets=secrets))


def write_messages(
    merged: MergedContext, target: Path, *, secrets: bool = False, kept: Iterable[Path] = ()
) -> Iterator[int]:
    """Write it to a file, in place of what is there; steps of one message each, with the bytes written so far.

    Closed before its end it leaves what was there before.

    Args:
        merged: what would be sent.
        target: where to.
        secrets: write secrets in clear; else they are masked.
        kept: files that are never written over.

    Raises:
        OSError: the file cannot be written, or is the document itself.
    """
    target = Path(os.path.realpath(target))
    if target.exists() and any(path.exists() and target.samefile(path) for path in kept):
        raise OSError(errno.EEXIST, "that is the document itself", str(target))
    handle, name = tempfile.mkstemp(prefix=".context-inspector-", suffix=".part", dir=target.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            yield from _written(merged, file, secrets=secrets)
        part.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def _written(merged: MergedContext, file: IO[str], *, secrets: bool) -> Iterator[int]:
    size = 0
    for text in _parts(merged, secrets=secrets):
        size += len(text.encode("utf-8", "replace"))
        file.write(text)
        yield size
    file.flush()  # what does not fit on the disk is said here, not when the file is closed


def _parts(merged: MergedContext, *, secrets: bool) -> Iterator[str]:
    before = '{\n  "messages": ['
    for message in merged.as_messages():
        shown = message if secrets else {key: mask_text(value) for key, value in message.items()}
        yield before + "\n    " + json.dumps(shown, ensure_ascii=False, indent=2).replace("\n", "\n    ")
        before = ","
    yield ("\n  " if before == "," else before) + "]\n}\n"
