"""Events that no sample of a format has."""

from __future__ import annotations

from inspector.formats.vocabulary import Voice

VOICE = Voice(agent="robot", program="robot-cli", namespace="robot/")


def test_a_link_names_the_sub_agent_and_is_no_second_call() -> None:
    event = VOICE.agent_linked("c2", agent="a7", label="Free the door")
    spawn = event.meaning.spawn
    assert spawn is not None
    assert (spawn.call, spawn.agent, spawn.label) == ("c2", "a7", "Free the door")
    assert (event.meaning.kind, event.meaning.method, event.meaning.sender) == (
        "robot/agent-started",
        None,
        "robot-cli",
    )


def test_unknown_tokens_are_no_zeros() -> None:
    unknown = VOICE.usage(VOICE.answer("Done"), model="m-1").meaning.call
    known = VOICE.usage(VOICE.answer("Done"), model="m-1", input=0, cache_read=7).meaning.call
    assert unknown is not None
    assert known is not None
    assert not unknown.has_usage
    assert (known.has_usage, known.input, known.cache_read, known.output) == (True, 0, 7, 0)
