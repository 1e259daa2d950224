"""Opens a document by targets and options, and applies the options that change an open one."""

from __future__ import annotations

from inspector.document.document import CaptureDocument
from inspector.document.marks_file import restore_marks
from inspector.document.sources import Progress
from inspector.engine.request import Steps
from inspector.engine.targets import OpenOptions as OpenOptions
from inspector.engine.targets import Target as Target
from inspector.engine.targets import choice_of_target
from inspector.msp import is_session_document
from inspector.protocol.tool_aliases import ToolAliases, parse_alias
from inspector.reading.files.source_reader import BLOCK_BYTES, LIVE_BLOCK_BYTES
from inspector.sources.inputs import is_stream
from inspector.store.files.tool_baseline import read_baseline


def apply_options(document: CaptureDocument, options: OpenOptions) -> None:
    """Applies options to an empty document.

    Raises:
        AliasError: an alias is malformed.
        PriceError: a price line is malformed.
    """
    document.memory.limit_to(options.memory_mb)
    document.set_tool_aliases(ToolAliases([parse_alias(text) for text in options.aliases]))
    if options.prices is not None:
        document.set_prices(options.prices, options.prices_dated)
    if options.baseline:
        document.analysis.findings.baseline = read_baseline()
    document.set_collapse_order(newest_first=options.newest_first)
    if options.idle_after_s is not None:
        document.set_idle_time(options.idle_after_s)


def reading_steps(document: CaptureDocument, targets: tuple[Target, ...], options: OpenOptions) -> Steps[None]:
    """Reads the targets into a document, with a `Progress` per step; several become one document.

    Raises:
        OSError: a target cannot be read.
        UnknownFormatError: no target has a known format.
    """
    yield from _read(document, targets, options)
    if options.unmasked:
        document.capture.records.masks = None
    if options.checked:
        for _ in document.postponed_checks():
            yield Progress(1, 1, len(document.capture))
    wanted = options.counted_bytes
    # With a limit, a log is counted completely or not at all.
    if wanted is None or (wanted and document.analysis.tokens.bytes_left <= wanted):
        document.count_tokens()
    if options.marks:
        # Marks lie beside a single file, so several files and streams have none.
        restore_marks(document, None if len(targets) != 1 or is_stream(targets[0].path) else targets[0].path)


def _read(document: CaptureDocument, targets: tuple[Target, ...], options: OpenOptions) -> Steps[None]:
    follow, document.path = options.follow, options.path
    size = BLOCK_BYTES if document.sources.waits else LIVE_BLOCK_BYTES
    if len(targets) == 1:
        one = targets[0]
        if one.is_live:
            yield from document.open_live(one.path, name=one.name, block_bytes=size)
            return
        if one.parts and is_session_document(one.path):
            yield from document.open_sessions([one.path, *one.parts], name=one.name, block_bytes=size)
            return
        yield from document.open_log(
            one.path, name=one.name, reading=one.reading, together=one.is_session, block_bytes=size,
            follow=follow,
        )  # fmt: skip
        return
    choices = [choice_of_target(one) for one in targets]
    yield from document.open_together(choices, name=options.name or None, block_bytes=size, follow=follow)
