"""Format: flows saved by mitmproxy (docs/what-it-reads.md)."""

from __future__ import annotations

from inspector.formats.format import Format, Stage, TrafficKind

FORMAT = Format(
    name="mitmproxy",
    title="mitmproxy flows",
    reads="flows of mitmproxy",
    stage=Stage.DOCUMENT,
    suffixes=(".flow", ".mitm"),
    is_log_in_folders=False,
    traffic=TrafficKind.WIRE,
    conversion="inspector.formats.mitmproxy.conversion:CONVERSION",
    has_numbered_entries=True,
)
