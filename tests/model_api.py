"""A stub of model APIs on loopback, in the forms of their documentation, for tests of a tap.

Anthropic messages and count_tokens, OpenAI chat completions and responses; streamed where asked. The model `busy`
answers 529 until it is asked again, `slow` streams until the client leaves, `error` is refused with 400.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from aiohttp import web

SIGNATURE = "c2lnbmF0dXJlIG9mIHRob3VnaHQgMDEyMzQ1Njc4OQ=="
_USAGE = {
    "input_tokens": 412, "cache_creation_input_tokens": 300, "cache_read_input_tokens": 0, "output_tokens": 57,
}  # fmt: skip
_THOUGHT = {"type": "thinking", "thinking": "3.4 m is enough.", "signature": SIGNATURE}
_TEXT = "The tide stands at 3.4 m."
_WORDS = ["The ", "tide ", "stands ", "at ", "3.4 m."]
_CALL = {"type": "tool_use", "id": "toolu_01", "name": "tide", "input": {"port": "Elbe"}}


class ModelApiStub:
    """Answers, and notes what it was asked.

    Attributes:
        asked: path, headers and body of each request.
        left: streams whose reader went.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, str], Any]] = []
        self.left = 0

    def routes(self) -> list[web.RouteDef]:
        """Where it answers."""
        return [
            web.post("/v1/messages", self._messages), web.post("/v1/messages/count_tokens", self._count),
            web.post("/v1/chat/completions", self._chat), web.post("/v1/responses", self._responses),
        ]  # fmt: skip

    async def _body(self, request: web.Request) -> dict[str, Any]:
        body = await request.json()
        self.asked.append((request.path, dict(request.headers), body))
        return body

    async def _count(self, request: web.Request) -> web.Response:
        await self._body(request)
        return web.json_response({"input_tokens": 412})

    async def _messages(self, request: web.Request) -> web.StreamResponse:
        body = await self._body(request)
        model = body["model"]
        if model == "error":
            error = {"type": "invalid_request_error", "message": "max_tokens: must be positive"}
            return web.json_response({"type": "error", "error": error}, status=400)
        if model == "busy" and request.headers.get("x-stainless-retry-count") == "0":
            error = {"type": "overloaded_error", "message": "Overloaded"}
            return web.json_response({"type": "error", "error": error}, status=529)
        said = [_CALL] if len(body["messages"]) == 1 else [_THOUGHT, {"type": "text", "text": _TEXT}]
        whole = {
            "id": f"msg_{len(self.asked)}", "type": "message", "role": "assistant", "model": model, "content": said,
            "stop_reason": "tool_use" if said[0] is _CALL else "end_turn", "stop_sequence": None, "usage": _USAGE,
        }  # fmt: skip
        if not body.get("stream"):
            return web.json_response(whole)
        return await self._stream(request, _message_events(whole, endless=model == "slow"))

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await self._body(request)
        usage = {"prompt_tokens": 90, "completion_tokens": 9, "total_tokens": 99,
                 "prompt_tokens_details": {"cached_tokens": 64}}  # fmt: skip
        about = {"id": f"chatcmpl-{len(self.asked)}", "created": 1, "model": body["model"]}
        if not body.get("stream"):
            message = {"role": "assistant", "content": _TEXT}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            return web.json_response({**about, "object": "chat.completion", "choices": [choice], "usage": usage})
        words = ({"index": 0, "delta": {"content": word}, "finish_reason": None} for word in _WORDS)
        chunks = [
            *({"choices": [word]} for word in words),
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
            {"choices": [], "usage": usage},
        ]  # fmt: skip
        events = [("", json.dumps({**about, "object": "chat.completion.chunk", **chunk})) for chunk in chunks]
        return await self._stream(request, [*events, ("", "[DONE]")])

    async def _responses(self, request: web.Request) -> web.StreamResponse:
        body = await self._body(request)
        item: dict[str, Any] = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": _TEXT, "annotations": []}]}  # fmt: skip
        thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": SIGNATURE}
        usage = {
            "input_tokens": 80, "output_tokens": 12, "total_tokens": 92, "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 4},
        }  # fmt: skip
        whole = {
            "id": f"resp_{len(self.asked)}", "object": "response", "created_at": 1, "status": "completed",
            "model": body["model"], "output": [thought, item], "usage": usage, "parallel_tool_calls": True,
            "tool_choice": "auto", "tools": [], "previous_response_id": body.get("previous_response_id"),
        }  # fmt: skip
        if not body.get("stream"):
            return web.json_response(whole)
        part = {"item_id": "msg_1", "output_index": 1, "content_index": 0, "logprobs": []}
        events = [
            {"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}},
            {"type": "response.output_item.added", "output_index": 0, "item": thought},
            {"type": "response.output_item.added", "output_index": 1, "item": {**item, "content": []}},
            {"type": "response.content_part.added", **part, "part": {**item["content"][0], "text": ""}},
            *({"type": "response.output_text.delta", **part, "delta": word} for word in _WORDS),
            {"type": "response.output_text.done", **part, "text": _TEXT},
            {"type": "response.completed", "response": whole},
        ]  # fmt: skip
        return await self._stream(
            request, [(str(e["type"]), json.dumps({**e, "sequence_number": n})) for n, e in enumerate(events)]
        )

    async def _stream(self, request: web.Request, events: Any) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        try:
            for name, data in events:
                head = f"event: {name}\n" if name else ""
                await response.write(f"{head}data: {data}\n\n".encode())
                await asyncio.sleep(0.002)
        except ConnectionError:
            self.left += 1
        return response


def _message_events(whole: dict[str, Any], *, endless: bool) -> Any:
    def event(**value: Any) -> tuple[str, str]:
        return str(value["type"]), json.dumps(value)

    usage = {**whole["usage"], "output_tokens": 1}
    yield event(type="message_start", message={**whole, "content": [], "stop_reason": None, "usage": usage})
    for index, block in enumerate(whole["content"]):
        deltas: list[dict[str, Any]]
        if block["type"] == "text":
            empty: dict[str, Any] = {"type": "text", "text": ""}
            words = _WORDS * (100_000 if endless else 1)
            deltas = [{"type": "text_delta", "text": word} for word in words]
        elif block["type"] == "thinking":
            empty = {"type": "thinking", "thinking": "", "signature": ""}
            deltas = [{"type": "thinking_delta", "thinking": block["thinking"]},
                      {"type": "signature_delta", "signature": block["signature"]}]  # fmt: skip
        else:
            empty = {**block, "input": {}}
            deltas = [{"type": "input_json_delta", "partial_json": p} for p in ("", '{"port": ', '"Elbe"}')]
        yield event(type="content_block_start", index=index, content_block=empty)
        for delta in deltas:
            yield event(type="content_block_delta", index=index, delta=delta)
        yield event(type="content_block_stop", index=index)
    delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield event(type="message_delta", delta=delta, usage={"output_tokens": whole["usage"]["output_tokens"]})
    yield event(type="message_stop")
