"""A client of model APIs with their own SDKs, started by tests behind a tap: `python -m tests.model_client [openai]`.

It says on its output what it was answered, and whether that is a terminal.
"""

from __future__ import annotations

import sys
from typing import Any

import anthropic
import openai

KEY = "sk-plantedSecret0123456789abcdef"
TOOL: Any = {"name": "tide", "description": "The tide of a port.", "input_schema": {"type": "object"}}
CALLED: Any = {"type": "tool_use", "id": "toolu_01", "name": "tide", "input": {"port": "Elbe"}}
TURN: Any = [
    {"role": "user", "content": "How high is the tide?"},
    {"role": "assistant", "content": [CALLED]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_01", "content": f"3.4 m, {KEY}"}]},
]


def messages(client: anthropic.Anthropic) -> None:
    """Turns of the messages API: whole and streamed, refused, busy, left."""
    asked: Any = {"max_tokens": 100, "tools": [TOOL], "system": "Answer briefly."}
    for turn in (TURN[:1], TURN):
        whole = client.messages.create(model="claude-test-1", messages=turn, **asked)
        with client.messages.stream(model="claude-test-1", messages=turn, **asked) as stream:
            streamed = stream.get_final_message()
        assert [one.type for one in streamed.content] == [one.type for one in whole.content]
        print(whole.stop_reason, streamed.usage.output_tokens)
    print(client.messages.count_tokens(model="claude-test-1", messages=TURN).input_tokens)
    print(client.messages.create(model="busy", messages=TURN[:1], **asked).stop_reason)
    try:
        client.messages.create(model="error", messages=TURN[:1], **asked)
    except anthropic.BadRequestError as error:
        print(error.message)
    with client.messages.stream(model="slow", messages=TURN, **asked) as stream:
        for _ in zip(range(3), stream.text_stream, strict=False):
            pass


CHAT_TOOL: Any = {"type": "function", "function": {"name": "tide", "parameters": {"type": "object"}}}
RESPONSES_TOOL: Any = {"type": "function", "name": "tide", "parameters": {"type": "object"}, "strict": False}


def chat(client: openai.OpenAI) -> None:
    """Chat completions: whole and streamed, with a tool, refused, busy, left."""
    completions, said = client.chat.completions, [dict[str, Any](role="user", content="How high is the tide?")]
    turn: Any = said
    print(completions.create(model="gpt-test-1", messages=turn).choices[0].message.content)
    usage: Any = {"stream": True, "stream_options": {"include_usage": True}}
    parts = completions.create(model="gpt-test-1", messages=turn, **usage)
    print("".join(part.choices[0].delta.content or "" for part in parts if part.choices))
    call = completions.create(model="gpt-test-1", messages=turn, tools=[CHAT_TOOL]).choices[0].message
    assert call.tool_calls
    with completions.stream(model="gpt-test-1", messages=turn, tools=[CHAT_TOOL]) as stream:
        streamed = stream.get_final_completion().choices[0].message
    assert streamed.tool_calls
    print([one.to_dict() for one in call.tool_calls], streamed.tool_calls[0].function.arguments)
    result = {"role": "tool", "tool_call_id": call.tool_calls[0].id, "content": f"3.4 m, {KEY}"}
    turn = [*said, call.to_dict(), result]
    print(completions.create(model="gpt-test-1", messages=turn, tools=[CHAT_TOOL]).choices[0].message.content)
    print(completions.create(model="busy", messages=turn).choices[0].finish_reason)
    try:
        completions.create(model="error", messages=turn)
    except openai.BadRequestError as error:
        print(error.message)
    with completions.create(model="slow", messages=turn, stream=True) as slow:
        for _ in zip(range(3), slow, strict=False):
            pass


def responses(client: openai.OpenAI) -> None:
    """Responses: whole and streamed, each going on from the one before, with a tool, refused, busy, left."""
    asked: Any = {"model": "gpt-test-1", "instructions": "Answer briefly.", "tools": [RESPONSES_TOOL]}
    first = client.responses.create(input="How high is the tide?", **asked)
    call = next(item for item in first.output if item.type == "function_call")
    result: Any = [{"type": "function_call_output", "call_id": call.call_id, "output": f"3.4 m, {KEY}"}]
    with client.responses.stream(input=result, previous_response_id=first.id, **asked) as stream:
        second = stream.get_final_response()
    print(second.output_text)
    with client.responses.stream(input="And now?", previous_response_id=second.id, **asked) as stream:
        print(next(item.arguments for item in stream.get_final_response().output if item.type == "function_call"))
    print(client.responses.create(model="busy", input="And now?", previous_response_id=second.id).output_text)
    try:
        client.responses.create(model="error", input="?")
    except openai.BadRequestError as error:
        print(error.message)
    with client.responses.create(model="slow", input="Tell me all.", stream=True) as slow:
        for _ in zip(range(5), slow, strict=False):
            pass


def socket(client: openai.OpenAI) -> None:
    """Responses over one WebSocket: with a tool, its result, refused."""
    asked: Any = {"type": "response.create", "model": "gpt-test-1", "tools": [RESPONSES_TOOL]}
    with client.responses.connect() as connection:
        send: Any = connection.send  # events as plain dicts
        send({**asked, "input": "How high is the tide?"})
        first = _received(connection)
        call = next(item for item in first.response.output if item.type == "function_call")
        result: Any = [{"type": "function_call_output", "call_id": call.call_id, "output": f"3.4 m, {KEY}"}]
        send({**asked, "input": result, "previous_response_id": first.response.id})
        print(_received(connection).response.output_text)
        send({**asked, "model": "error", "input": "?"})
        print(_received(connection).type)


def _received(connection: Any) -> Any:
    """The event that ends a response."""
    while (event := connection.recv()).type not in ("response.completed", "error"):
        pass
    return event


if __name__ == "__main__":
    if "websocket" in sys.argv:
        with openai.OpenAI(api_key=KEY) as made:
            socket(made)
        sys.exit()
    if "openai" not in sys.argv:
        messages(anthropic.Anthropic(api_key=KEY, max_retries=1))
    planted: Any = {"organization": "org-plantedSecret0123456789", "project": "proj-plantedSecret0123456789"}
    with openai.OpenAI(api_key=KEY, **planted) as made:
        chat(made)
        responses(made)
    print("terminal" if sys.stdout.isatty() else "pipe", sys.argv[1:])
