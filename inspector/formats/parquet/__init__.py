"""Format: Parquet files that this program exported with the logged bytes of messages."""

from __future__ import annotations

from inspector.formats.format import Format, Stage, TrafficKind

FORMAT = Format(
    name="parquet",
    title="Parquet export",
    reads="Parquet exports with raw messages",
    stage=Stage.DOCUMENT,
    suffixes=(".parquet",),
    is_log_in_folders=False,
    traffic=TrafficKind.LOG,
    conversion="inspector.formats.parquet.conversion:CONVERSION",
)
