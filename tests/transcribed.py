"""Records of transcripts as tests write them: a session of Claude Code, whose records follow one another."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

SESSION = "00000000-0000-4000-8000-00000000000a"


class ClaudeSession:
    """Makes records one after the other, a second apart, each with the one before as its parent.

    Attributes:
        records: those made so far.
    """

    def __init__(self, session: str = SESSION, *, model: str = "claude-opus-4-5", agent: str | None = None) -> None:
        self.session, self.model, self.agent = session, model, agent
        self.records: list[dict[str, Any]] = []
        self.second = 0.0
        self._last: str | None = None

    def add(self, kind: str, *, after_s: float = 1.0, **more: Any) -> dict[str, Any]:
        """A record of a chain."""
        self.second += after_s
        moment = datetime(2026, 3, 4, 9, tzinfo=UTC) + timedelta(seconds=self.second)
        uuid = more.pop("uuid", None) or f"{self.agent or 'm'}-{len(self.records):06d}"
        record: dict[str, Any] = {
            "parentUuid": self._last, "isSidechain": self.agent is not None, "userType": "external", "cwd": "/work/app",
            "sessionId": self.session, "version": "2.1.30", "gitBranch": "main", "type": kind, "uuid": uuid,
            "timestamp": f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z", **more,
        }  # fmt: skip
        if self.agent is not None:
            record["agentId"] = self.agent
        self._last = record["uuid"]
        self.records.append(record)
        return record

    def prompt(self, text: str, **more: Any) -> dict[str, Any]:
        """What a user types."""
        return self.add("user", message={"role": "user", "content": text}, **more)

    def says(self, *blocks: dict[str, Any], usage: dict[str, int] | None = None, **more: Any) -> list[dict[str, Any]]:
        """One answer of the model's API, a record for each block."""
        number = f"msg_{self.agent or 'm'}_{len(self.records):06d}"
        usage = usage or {"input_tokens": 10, "output_tokens": 50, "cache_read_input_tokens": 1_000}
        return [
            self.add(
                "assistant", requestId=f"req_{number}",
                message={
                    "role": "assistant", "id": number, "model": self.model, "content": [block], "usage": usage,
                    "stop_reason": None,
                }, **more,
            )
            for block in blocks
        ]  # fmt: skip

    def text(self, words: str, **more: Any) -> dict[str, Any]:
        """What the model says."""
        return self.says({"type": "text", "text": words}, **more)[0]

    def call(self, tool: str, arguments: dict[str, Any], **more: Any) -> str:
        """A call of a tool; its id."""
        identifier = f"toolu_{self.agent or 'm'}_{len(self.records):06d}"
        self.says({"type": "tool_use", "id": identifier, "name": tool, "input": arguments}, **more)
        return identifier

    def result(self, call: str, content: Any, *, failed: bool = False, **more: Any) -> dict[str, Any]:
        """What came of a call."""
        block = {
            "type": "tool_result",
            "tool_use_id": call,
            "content": content,
            **({"is_error": True} if failed else {}),
        }
        return self.add("user", message={"role": "user", "content": [block]}, **more)

    def runs(self, tool: str, arguments: dict[str, Any], content: Any = "done", **more: Any) -> None:
        """A call and its result."""
        self.result(self.call(tool, arguments), content, **more)

    def system(self, subtype: str, **more: Any) -> dict[str, Any]:
        """What the program notes."""
        return self.add("system", subtype=subtype, **more)
