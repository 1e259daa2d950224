"""Who waits behind somebody that waits: those who wait for them, for those who do, and so on."""

from __future__ import annotations

from inspector.present.wait_words import describe_waits
from tests.builders import document_of, tool_call


def test_the_nearest_are_named_and_all_counted() -> None:
    """Agent 0 waits for the server, each other one for the one before it, and some for the last as well."""
    asked = [("agent-0", "files"), *((f"agent-{one}", f"agent-{one - 1}") for one in range(1, 150))]
    asked += [("agent-1", "agent-149"), ("agent-148", "agent-149")]
    document = document_of(*(tool_call("grep", sender=who, to=whom) for who, whom in asked))
    found = describe_waits(document.analysis, range(len(asked)))
    assert found[0].behind_words == "agent-1, agent-2 and 147 more"
    assert found[2].behind_words == "agent-3, agent-4 and 146 more", "in a circle everybody but oneself"
    assert found[149].behind_words == "agent-1, agent-148 and 146 more"
    assert found[0].sentence.endswith("agent-1, agent-2 and 147 more behind it")
