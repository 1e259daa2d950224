"""Counts secrets before an export: by rule, with the first messages of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field

from inspector.document.document import CaptureDocument
from inspector.export.masking_worker import MaskingWorker, is_long_line
from inspector.protocol.header import NotAnObjectError, decode_json
from inspector.protocol.secrets.masking import MaskCounts, SecretRule, mask_secrets, mask_text, may_hold_secrets
from inspector.store.columns.flags import Flag
from inspector.tables.read_requests import ReadRequests

STEP_MESSAGES = 16
"""Messages between two steps."""
_EACH_BYTES = 1 << 17
"""Bytes between two steps, for long messages."""
_MAX_FIRSTS = 3
_NO_JSON = (Flag.UNREADABLE | Flag.FRAME).value


@dataclass(slots=True)
class Preview:
    """Secrets that masking would find; grows during the count."""

    messages: int = 0
    """Number of messages checked."""
    holding: int = 0
    """Number of messages with a secret."""
    tally: MaskCounts = field(default_factory=lambda: Counter[SecretRule]())
    """Secrets by rule."""
    firsts: dict[SecretRule, list[int]] = field(default_factory=dict[SecretRule, list[int]])
    """The first messages by rule, at most three."""
    complete: bool = False

    @property
    def secrets(self) -> int:
        """Number of secrets found so far."""
        return self.tally.total()


def preview(document: CaptureDocument, messages: Iterable[int]) -> Generator[Preview]:
    """Counts secrets in messages; yields the same object after some messages each, complete at the end.

    Each message counts once, however often an export repeats it.

    Raises:
        OSError: the log cannot be read.
    """
    found, aside = Preview(), MaskingWorker()
    seen = reported = 0  # bytes checked; the same at the last step
    try:
        for message in messages:
            tally = None
            if is_long_line(document.capture, message) and not _is_derived(document, message):
                for counted in aside.count_secrets(document.capture, message):
                    tally = counted
                    yield found
            if tally is None:
                for counted in _secrets_in(document, message):
                    tally = counted
                    yield found
            if tally:
                _note_secrets(found, message, tally)
            found.messages += 1
            seen += int(document.capture.columns["size"][message])
            if not found.messages % STEP_MESSAGES or seen - reported >= _EACH_BYTES:
                reported = seen
                yield found
    finally:
        aside.end()
    found.complete = True
    yield found


def _note_secrets(found: Preview, message: int, tally: MaskCounts) -> None:
    found.holding += 1
    found.tally.update(tally)
    for rule in tally:
        firsts = found.firsts.setdefault(rule, [])
        if len(firsts) < _MAX_FIRSTS:
            firsts.append(message)


def _is_derived(document: CaptureDocument, message: int) -> bool:
    """Returns True if its record stands for several messages; of a big one, only the head is checked."""
    return bool(document.capture.columns["part"][message])


def _secrets_in(document: CaptureDocument, message: int) -> Iterator[MaskCounts]:
    """Yields secrets of one message by rule; of a long one repeatedly, while a thread counts them."""
    capture = document.capture
    raw = capture.records.envelope_bytes(message)
    if not may_hold_secrets(raw.decode("utf-8", "replace")):
        return
    tally: MaskCounts = Counter[SecretRule]()
    is_json = not int(capture.columns["flags"][message]) & _NO_JSON and not capture.records.is_big(message)
    if len(raw) < _EACH_BYTES:
        yield _count_secrets(raw, tally, is_json=is_json)
        return
    for _ in ReadRequests().run_thread(lambda: _count_secrets(raw, tally, is_json=is_json), lambda: None):
        yield tally


def _count_secrets(raw: bytes, tally: MaskCounts, *, is_json: bool) -> MaskCounts:
    """Adds the secrets of a line to a count."""
    if is_json:
        try:
            value = decode_json(raw)
        except NotAnObjectError:
            pass
        else:
            if mask_secrets(value, tally) != value:
                return tally
            # Otherwise perhaps under a repeated key; decoding keeps only its last value.
    mask_text(raw.decode("utf-8", "replace"), tally=tally)
    return tally
