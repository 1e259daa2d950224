"""A stub of model APIs on loopback, in the forms of their documentation, for tests of a tap.

Anthropic messages and count_tokens, OpenAI chat completions and responses; streamed where asked. The model `busy`
answers 529, OpenAI's 429 and then 500, until it is asked again, `slow` streams until the client leaves, `error` is
refused with 400. Where tools are offered one is called, until its result is sent.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from itertools import chain, cycle
from typing import Any

from aiohttp import web

SIGNATURE = "c2lnbmF0dXJlIG9mIHRob3VnaHQgMDEyMzQ1Njc4OQ=="
_USAGE = {
    "input_tokens": 412, "cache_creation_input_tokens": 300, "cache_read_input_tokens": 0, "output_tokens": 57,
}  # fmt: skip
_THOUGHT = {"type": "thinking", "thinking": "3.4 m is enough.", "signature": SIGNATURE}
_TEXT = "The tide stands at 3.4 m."
_WORDS = ["The ", "tide ", "stands ", "at ", "3.4 m."]
_PIECES = ('{"port": ', '"Elbe"}')
_CHAT_CALL: dict[str, Any] = {
    "id": "call_01", "type": "function", "function": {"name": "tide", "arguments": "".join(_PIECES)},
}  # fmt: skip
_RESPONSES_CALL = {
    "type": "function_call", "id": "fc_1", "call_id": "call_02", "name": "tide", "status": "completed",
    "arguments": "".join(_PIECES),
}  # fmt: skip
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
            web.get("/v1/responses", self._socket),
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
        return await self._stream(request, _message_events(whole))

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await self._body(request)
        usage = {"prompt_tokens": 90, "completion_tokens": 9, "total_tokens": 99,
                 "prompt_tokens_details": {"cached_tokens": 64}}  # fmt: skip
        if (refused := self._refused(request, body["model"])) is not None:
            return refused
        about = {"id": f"chatcmpl-{len(self.asked)}", "created": 1, "model": body["model"]}
        calls = "tools" in body and body["messages"][-1]["role"] != "tool"
        if not body.get("stream"):
            message = {"role": "assistant", "content": None if calls else _TEXT}
            message |= {"tool_calls": [_CHAT_CALL]} if calls else {}
            choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
            return web.json_response({**about, "object": "chat.completion", "choices": [choice], "usage": usage})
        deltas = _call_deltas() if calls else ({"content": word} for word in _words(body["model"]))
        end = {"index": 0, "delta": {}, "finish_reason": "tool_calls" if calls else "stop"}
        chunks = chain(
            ({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas),
            ({"choices": [end]}, {"choices": [], "usage": usage}),
        )  # fmt: skip
        events = (("", json.dumps({**about, "object": "chat.completion.chunk", **chunk})) for chunk in chunks)
        return await self._stream(request, chain(events, [("", "[DONE]")]))

    def _refused(self, request: web.Request, model: str) -> web.Response | None:
        """What OpenAI answers in place of the model, as its SDK tells what is tried again."""
        tried = request.headers.get("x-stainless-retry-count", "0")
        status = {("busy", "0"): 429, ("busy", "1"): 500, ("error", "0"): 400}.get((model, tried))
        if status is None:
            return None
        error = {"message": f"It is {model}.", "type": "invalid_request_error", "param": None, "code": None}
        return web.json_response({"error": error}, status=status, headers={"retry-after-ms": "1"})

    async def _responses(self, request: web.Request) -> web.StreamResponse:
        body = await self._body(request)
        if (refused := self._refused(request, body["model"])) is not None:
            return refused
        whole, events = self._response(body)
        if not body.get("stream"):
            return web.json_response(whole)
        return await self._stream(
            request, ((str(e["type"]), json.dumps({**e, "sequence_number": n})) for n, e in enumerate(events))
        )

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        """Responses over a WebSocket, one after the other."""
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        async for message in socket:
            body = json.loads(message.data)
            self.asked.append((request.path, dict(request.headers), body))
            if body["model"] == "error":
                await socket.send_json({"type": "error", "error": {"message": "It is error."}, "status": 400})
                continue
            for number, event in enumerate(self._response(body)[1]):
                await socket.send_json({**event, "sequence_number": number})
        return socket

    def _response(self, body: dict[str, Any]) -> tuple[dict[str, Any], Iterable[dict[str, Any]]]:
        """A response, and the events it comes in."""
        said: dict[str, Any] = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": _TEXT, "annotations": []}]}  # fmt: skip
        given = body["input"][-1] if isinstance(body["input"], list) else {}
        calls = "tools" in body and given.get("type") != "function_call_output"
        item = _RESPONSES_CALL if calls else said
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
        part = {"item_id": item["id"], "output_index": 1, "content_index": 0, "logprobs": []}
        words = _words(body["model"])
        spoken: Iterable[dict[str, Any]] = chain(
            ({"type": "response.output_item.added", "output_index": 1, "item": {**said, "content": []}},
             {"type": "response.content_part.added", **part, "part": {**said["content"][0], "text": ""}}),
            ({"type": "response.output_text.delta", **part, "delta": word} for word in words),
            ({"type": "response.output_text.done", **part, "text": _TEXT},),
        )  # fmt: skip
        called: list[dict[str, Any]] = [
            {"type": "response.output_item.added", "output_index": 1, "item": {**_RESPONSES_CALL, "arguments": ""}},
            *({"type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": 1, "delta": piece}
              for piece in _PIECES),
            {"type": "response.function_call_arguments.done", "item_id": "fc_1", "output_index": 1, "name": "tide",
             "arguments": "".join(_PIECES)},
            {"type": "response.output_item.done", "output_index": 1, "item": _RESPONSES_CALL},
        ]  # fmt: skip
        begun = {**whole, "status": "in_progress", "output": [], "usage": None}
        events: Iterable[dict[str, Any]] = chain(
            ({"type": "response.created", "response": begun},
             {"type": "response.output_item.added", "output_index": 0, "item": thought}),
            called if calls else spoken,
            ({"type": "response.completed", "response": whole},),
        )  # fmt: skip
        return whole, events

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


def _words(model: str) -> Iterable[str]:
    """What the model says, in pieces; of `slow` without an end, as far as anybody reads."""
    return cycle(_WORDS) if model == "slow" else _WORDS


def _call_deltas() -> list[dict[str, Any]]:
    begun = {**_CHAT_CALL, "index": 0, "function": {"name": "tide", "arguments": ""}}
    pieces = ({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in _PIECES)
    return [{"role": "assistant", "tool_calls": [begun]}, *pieces]


def _message_events(whole: dict[str, Any]) -> Any:
    def event(**value: Any) -> tuple[str, str]:
        return str(value["type"]), json.dumps(value)

    usage = {**whole["usage"], "output_tokens": 1}
    yield event(type="message_start", message={**whole, "content": [], "stop_reason": None, "usage": usage})
    for index, block in enumerate(whole["content"]):
        deltas: Iterable[dict[str, Any]]
        if block["type"] == "text":
            empty: dict[str, Any] = {"type": "text", "text": ""}
            deltas = ({"type": "text_delta", "text": word} for word in _words(whole["model"]))
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
