"""A client of model APIs with their own SDKs, started by tests behind `tap --model`: `python -m tests.model_client`.

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


def chat(client: openai.OpenAI) -> None:
    """Chat completions and responses, whole and streamed, one going on from another."""
    said: Any = [{"role": "user", "content": "How high is the tide?"}]
    print(client.chat.completions.create(model="gpt-test-1", messages=said).choices[0].message.content)
    parts = client.chat.completions.create(
        model="gpt-test-1", messages=said, stream=True, stream_options={"include_usage": True}
    )
    print("".join(part.choices[0].delta.content or "" for part in parts if part.choices))
    first = client.responses.create(model="gpt-test-1", input="How high is the tide?", instructions="Answer briefly.")
    print(first.output_text)
    with client.responses.stream(model="gpt-test-1", input="And now?", previous_response_id=first.id) as stream:
        print(stream.get_final_response().output_text)


if __name__ == "__main__":
    messages(anthropic.Anthropic(api_key=KEY, max_retries=1))
    chat(openai.OpenAI(api_key=KEY, organization="org-plantedSecret0123456789", project="proj-plantedSecret0123456789"))
    print("terminal" if sys.stdout.isatty() else "pipe", sys.argv[1:])
