"""Trajectories whose parts tell different things."""

from __future__ import annotations

import json
from typing import Any

from inspector.document.summary import summary
from tests.builders import document_at, log_file


def _summary(value: dict[str, Any], name: str) -> dict[str, Any]:
    return summary(document_at(log_file(json.dumps(value).encode(), name)), "")


def test_a_last_step_that_the_history_lacks_is_a_call() -> None:
    steps = [{"action": name, "observation": "done", "response": f"I {name}"} for name in ("look", "submit")]
    asked = {"role": "user", "content": "Mend the kite.", "agent": "main"}
    looked = {"role": "assistant", "content": "I look", "action": "look", "agent": "main"}
    seen = {"role": "user", "content": "done", "agent": "main"}
    submitted = {"role": "assistant", "content": "I submit", "action": "submit", "agent": "main"}
    run = {"trajectory": steps, "info": {"exit_status": "submitted"}}
    for history in ([asked, looked, seen], [asked, looked, seen, submitted]):
        found = _summary({**run, "history": history}, "kite.traj")
        assert found["tool_counts"] == {"look": 1, "submit": 1}
        assert found["calls"]["answered"] == 2


def test_totals_of_a_run_count_if_its_steps_have_no_tokens() -> None:
    totals = {"total_prompt_tokens": 900, "total_completion_tokens": 40, "total_cached_tokens": 100}
    steps: list[dict[str, Any]] = [
        {"step_id": number, "source": who, "message": "bake"} for number, who in enumerate(("user", "agent"), 1)
    ]
    run = {"schema_version": "ATIF-v1.4", "session_id": "s", "agent": {"name": "a", "version": "1"}, "steps": steps}
    usage = _summary({**run, "final_metrics": totals}, "run.json")["usage"]
    assert (usage["input"], usage["cache_read"], usage["output"]) == (800, 100, 40)
    steps[1] |= {"metrics": {"prompt_tokens": 5, "completion_tokens": 2}}
    assert _summary({**run, "final_metrics": totals}, "run.json")["usage"]["input"] == 5
