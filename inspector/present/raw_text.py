"""Raw text of a message: the bytes of its envelope, its log line, or its envelope as formatted JSON.

Of long texts, the head and the end are shown. Hidden text is masked only for a copy: 1 MB of JSON takes 0.1 s, and
masking pieces of thousands of lines takes longer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from inspector.present import formats, wire_text
from inspector.present.converted import place_in_original
from inspector.present.wire_text import visible_controls
from inspector.protocol.payloads.result_content import pretty_json
from inspector.protocol.secrets.masking import mask_text, may_hold_secrets
from inspector.protocol.secrets.streamed_event_queue import mask_lines
from inspector.store.columns.flags import Flag
from inspector.store.columns.large_headers import MAX_WHOLE_BYTES
from inspector.store.messages.capture import Capture
from inspector.store.messages.original_lines import LoggedLines
from inspector.store.messages.piece_masks import shown_line

RawPart = Literal["envelope", "line", "formatted"]

FIRST = 1 << 15
"""Characters shown at first; one long line takes long to lay out."""
STEP = 1 << 16
"""Characters added by each extension."""
MOST = 5 * STEP
"""Most characters shown: layout takes 40 ms for 300 kB, over 100 ms for 1 MB. Save writes everything."""
LAST = 1 << 11
"""Characters of the end, shown below a cut."""
_MARK = "…"
# Bytes read before the end, so that masking sees the key of a secret.
_MASK_CONTEXT_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class RawText:
    """The shown text of a message.

    Attributes:
        text: head and end, or all of it; with visible control characters.
        is_json: the text is JSON, or its beginning.
        folds: one value a line, so that objects and lists can be folded.
        notes: sentences about omitted and masked parts.
        has_parts: the envelope differs from the line, so that the user can choose.
        may_hold_secrets: secrets are masked here, or would be in a copy.
        has_more: it can be extended.
    """

    text: str
    is_json: bool
    folds: bool
    notes: str
    has_parts: bool
    may_hold_secrets: bool
    has_more: bool


def raw_text(capture: Capture, message: int, part: RawPart, more: int, *, with_secrets: bool) -> Callable[[], RawText]:
    """Reads a message, and returns a function that makes the shown text; a thread may call it.

    Args:
        capture: the messages.
        message: index of the message.
        part: ignored for large messages, which show the line.
        more: number of extensions.
        with_secrets: shows secrets.
    """
    return _Reading(capture, message, part, more, with_secrets=with_secrets).shown


def copied_text(capture: Capture, message: int, part: RawPart, more: int, *, with_secrets: bool) -> Callable[[], str]:
    """Returns a function for the whole text of a copy; of a large message the shown parts. As `raw_text`."""
    reading = _Reading(capture, message, part, more, with_secrets=with_secrets)
    reading.read_whole()
    return reading.copied


class _Reading:
    """One reading of a message's text.

    Attributes:
        head, end: shown; `mask` masks them unless secrets are shown. `end` only below a cut.
        hidden_size: size of the cut between them, or "".
        whole: unmasked text; None if only parts are read.
    """

    def __init__(self, capture: Capture, message: int, part: RawPart, more: int, *, with_secrets: bool) -> None:
        self._capture, self._message, self._part = capture, message, part
        self._with_secrets = with_secrets
        self._room = min(FIRST + more * STEP, MOST)
        self._logged = LoggedLines(capture, message)
        self._holds_pieces = False
        self._is_derived = bool(capture.columns["part"][message])
        self._is_json = not capture.flags_of(message) & Flag.FRAME
        self._converted = place_in_original(capture, message)
        self._is_big = capture.records.is_big(message) or (self._is_derived and self._logged.length > MAX_WHOLE_BYTES)
        self._formatted = self._formatted_text() if part == "formatted" and not self._is_big else None
        self._read()

    def _read(self) -> None:
        cut = self._logged.length > self._room + LAST and self._is_derived and self._formatted is None
        in_parts = self._is_big or (cut and len(self._logged.places) > 1)
        text, self.end, self.hidden_size = self._parts() if in_parts else self._read_small()
        self.head = text[: 4 * self._room] if self.hidden_size and not self._is_big else text
        self.whole, self._read_text = None if in_parts else text, text

    def read_whole(self) -> None:
        """Reads the whole text, unless the message is large."""
        if self.whole is None and not self._is_big:
            shown = shown_line(self._capture, self._message)
            self.whole = _decoded(self._masked_or_raw(self._logged.read(0, self._logged.length), shown))

    # Results, which read nothing

    def shown(self) -> RawText:
        folds = self._part == "formatted" and self._formatted is not None
        is_masked = self._mask()
        return RawText(
            self._visible_text(),
            is_json=self._is_json,
            folds=folds and not self.hidden_size,
            notes=self._notes(is_masked=is_masked),
            has_parts=not self._is_big and not self._is_derived,
            may_hold_secrets=is_masked or self._may_hide_secrets(),
            has_more=bool(self.hidden_size) and self._room < MOST,
        )

    def _may_hide_secrets(self) -> bool:
        in_lines = self.whole is None and not self._is_big
        return bool(self.hidden_size) and (in_lines or may_hold_secrets(self._read_text))

    def copied(self) -> str:
        text = self.whole
        if text is None:
            self._mask()
            return self._shown_text()
        return text if self._with_secrets else mask_text(text)

    def _mask(self) -> bool:
        """Masks and cuts the shown text; returns True if secrets are masked."""
        masked = self.head if self._with_secrets else wire_text.mask_start(self.head, self._room)
        masked_end = self.end if self._with_secrets else mask_text(self.end)
        pieces_are_masked = self._holds_pieces and not self._with_secrets
        is_masked = masked != self.head or masked_end != self.end or pieces_are_masked
        self.head = masked[: self._room] if self._is_big or self.hidden_size else masked
        self.end = masked_end[-LAST:] if self.hidden_size else ""
        return is_masked

    def _shown_text(self) -> str:
        if not self.hidden_size:
            return self.head
        return f"{self.head}\n\n{_MARK} {self.hidden_size} not shown {_MARK}\n\n{self.end}"

    def _visible_text(self) -> str:
        """Returns the shown text with visible control characters; they count towards the limits."""
        seen = visible_controls(self.head)
        if not self.hidden_size and len(seen) <= MOST:
            return seen
        between = f"\n\n{_MARK} {self.hidden_size or 'The rest is'} not shown {_MARK}\n\n"
        return seen[: self._room] + between + visible_controls(self.end)[-LAST:]

    def _notes(self, *, is_masked: bool) -> str:
        words = [self._converted] if self._converted is not None else []
        lines = len(self._logged.places)
        if lines > 1:
            words.append(f"Assembled from {formats.number(lines)} lines, shown as logged.")
        if self._is_big:
            have = "The lines have" if lines > 1 else "The line has"
            words.append(f"{have} {formats.size(self._logged.length)}; only beginning and end are shown.")
        if is_masked:
            words.append("Secrets are masked.")
        return " ".join(words)

    # Reading

    def _formatted_text(self) -> str | None:
        """Returns the envelope as JSON, one value a line; None for other lines."""
        records = self._capture.records
        with records.unmasked(if_=self._with_secrets):
            value = records.envelope(self._message)
        return pretty_json(value) if isinstance(value, dict | list) else None

    def _read_small(self) -> tuple[str, str, str]:
        """Returns the text, its end, and the size of a cut between them."""
        if self._formatted is not None:
            return self._cut(self._formatted)
        records, message = self._capture.records, self._message
        if self._part == "line" or self._is_derived:
            raw, shown = self._logged.read(0, self._logged.length), shown_line(self._capture, message)
        else:
            shown = records.envelope_bytes(message)
            with records.unmasked():
                raw = records.envelope_bytes(message)
        return self._cut(_decoded(self._masked_or_raw(raw, shown)))

    def _masked_or_raw(self, raw: bytes, shown: bytes) -> bytes:
        """Returns the logged bytes if secrets are shown, else without pieces of secrets that span lines.

        Records if the two differ.
        """
        self._holds_pieces = self._holds_pieces or raw != shown
        return raw if self._with_secrets else shown

    def _cut(self, text: str) -> tuple[str, str, str]:
        hidden = len(text) - self._room - LAST
        if hidden <= 0:
            return text, "", ""
        return text, text[-LAST - _MASK_CONTEXT_BYTES :], f"{formats.number(hidden)} characters"

    def _parts(self) -> tuple[str, str, str]:
        """Reads and masks only the shown parts of a large message."""
        logged = self._logged
        if len(logged.places) > 1:
            firsts, lasts = [*logged.lines(0, self._room)], [*logged.lines(logged.length - LAST, logged.length)]
            head = self._masked_or_raw(b"\n".join(firsts), b"\n".join(mask_lines(firsts)))
            end = self._masked_or_raw(b"\n".join(lasts), b"\n".join(mask_lines(lasts)))
            head, end = head[: 4 * self._room], end[-LAST - _MASK_CONTEXT_BYTES :]
        else:
            length = LAST + _MASK_CONTEXT_BYTES
            head, end = logged.read(0, self._room), logged.read(logged.length - length, length)
        hidden = formats.size(logged.length - self._room - LAST)
        return head.decode("utf-8", "replace"), end.decode("utf-8", "replace"), hidden


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
