"""Format: logs of LiteLLM, calls of models through its SDK or proxy (docs/what-it-reads.md)."""

from __future__ import annotations

from inspector.formats.format import Format, Stage, TrafficKind

FORMAT = Format(
    name="litellm",
    title="LiteLLM log",
    reads="logs of LiteLLM",
    stage=Stage.DOCUMENT,
    traffic=TrafficKind.WIRE,
    conversion="inspector.formats.litellm.conversion:CONVERSION",
    has_numbered_entries=True,
)
