"""A merged context as messages JSON: one text, or a file written in steps. No Qt."""

from __future__ import annotations

import errno
import os
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.analysis.model_context.file import parts_of, write_parts
from inspector.protocol.secrets.masking import mask_text

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
) -> Generator[int]:
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
    yield from write_parts(_parts(merged, secrets=secrets), target)


def _parts(merged: MergedContext, *, secrets: bool) -> Iterator[str]:
    messages = merged.as_messages()
    masked = ({key: mask_text(value) for key, value in message.items()} for message in messages)
    return parts_of(iter(messages) if secrets else masked)
