"""Format: trajectories of SWE-agent and mini-SWE-agent (docs/what-it-reads.md)."""

from __future__ import annotations

from inspector.formats.format_families import run_format
from inspector.formats.swe_agent.reader import READER, VOICE

FORMAT = run_format(
    __name__, READER, VOICE, title="SWE-agent trajectory", reads="trajectories of SWE-agent and mini-SWE-agent",
    bookkeeping=("trajectory",), suffixes=(".traj",),
)  # fmt: skip
