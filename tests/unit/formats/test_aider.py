"""Chat histories of Aider: marks in texts, and files whose spaces an editor removed."""

from __future__ import annotations

import re
from pathlib import Path

from inspector.sources.run_members import run_facts
from tests.unit.formats.conformance import FORMATS_FOLDER, figures

SAMPLE = FORMATS_FOLDER / "aider" / "samples" / "two-chats.markdown"


def test_a_file_without_spaces_at_its_ends_of_lines_has_the_same_figures(tmp_path: Path) -> None:
    stripped = tmp_path / "stripped.md"
    stripped.write_text(re.sub(r" +$", "", SAMPLE.read_text(), flags=re.MULTILINE))
    names = ("messages", "kinds", "usage", "models", "title")
    found, expected = figures(stripped), figures(SAMPLE)
    assert [found[name] for name in names] == [expected[name] for name in names]


def test_facts_of_each_session() -> None:
    first, second = run_facts(SAMPLE)
    assert (first.name, first.model, first.cost) == ("2026-05-01 10.00.00", "baker-1", 0.04)
    assert (first.input_tokens, first.output_tokens) == (30_200, 434)
    assert (second.model, second.cost, second.input_tokens) == ("planner-1", None, 2_000)


def test_cached_tokens_beyond_the_sent_ones_are_reported_apart(tmp_path: Path) -> None:
    path = tmp_path / "chat.md"
    path.write_text(
        "# aider chat started at 2026-05-01 10:00:00\n\n> Model: m with whole edit format  \n\n#### bake  \n\nDone.\n\n"
        "> Tokens: 900 sent, 700 cache write, 5.0k cache hit, 30 received.\nCost: $0.01 message, $0.01 session.  \n"
    )
    usage = figures(path)["usage"]
    assert (usage["input"], usage["cache_read"], usage["cache_write"], usage["output"]) == (200, 5_000, 700, 30)
