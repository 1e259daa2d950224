"""Lists the sessions of agents on a machine; prints one JSON object with what it cost.

Run as `python -m tests.bench.session_list SESSIONS FOLDER`: three of five are of Claude Code, some with five
sub-agents, the others of Codex.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from inspector.sources.agent_sessions.lookup import find_sessions
from tests.bench import transcripts


def measure(count: int, folder: Path) -> dict[str, float]:
    """Write them, and list them; times in seconds."""
    homes = {"CLAUDE_CONFIG_DIR": str(folder / "claude"), "CODEX_HOME": str(folder / "codex"), "HOME": str(folder)}
    transcripts.write_sessions(folder, count)
    began, used = time.perf_counter(), time.process_time()
    found = find_sessions(homes, count)
    return {
        "sessions": len(found.sessions),
        "list_s": time.perf_counter() - began,
        "cpu_s": time.process_time() - used,
    }


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), Path(sys.argv[2]))))
