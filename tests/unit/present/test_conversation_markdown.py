"""Markdown of cards: parsed into blocks, masked, bounded; and written again."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from inspector.present.conversation.blocks import (
    Block,
    CodeBlock,
    Heading,
    ListBlock,
    Paragraph,
    Quote,
    Run,
    RunStyle,
    Table,
)
from inspector.present.conversation.markdown import parse_markdown, plain_blocks
from inspector.present.conversation.markdown_text import blocks_text, escaped
from inspector.present.conversation.texts import text_blocks

TEXT = """# Title

The `OutputFilter` field was **removed**, *really*, ~~not~~ [here](https://example.org/a).

- [x] one
- two
  1. three

```go
x := 1
```

> said

| a | b |
|---|--:|
| 1 | 2 |

---
"""


def words_of(blocks: tuple[Block, ...]) -> str:
    """Returns all text of blocks without blanks."""
    found: list[str] = []
    for block in blocks:
        if isinstance(block, Paragraph | Heading):
            found += [run.text for run in block.runs]
        elif isinstance(block, CodeBlock):
            found.append(block.text)
        elif isinstance(block, Quote):
            found.append(words_of(block.blocks))
        elif isinstance(block, ListBlock):
            found += [words_of(item.blocks) for item in block.items]
        elif isinstance(block, Table):
            found += [run.text for row in (block.head, *block.rows) for cell in row for run in cell]
    return "".join("".join(found).split())


def test_blocks_of_a_text() -> None:
    blocks = parse_markdown(TEXT)
    assert [type(block).__name__ for block in blocks] == [
        "Heading", "Paragraph", "ListBlock", "CodeBlock", "Quote", "Table", "Rule",
    ]  # fmt: skip
    said = blocks[1]
    assert isinstance(said, Paragraph)
    assert said.runs[1] == Run("OutputFilter", RunStyle.CODE)
    assert said.runs[3] == Run("removed", RunStyle.BOLD)
    assert said.runs[-2] == Run("here", 0, "https://example.org/a")
    assert isinstance(blocks[2], ListBlock)
    assert [item.checked for item in blocks[2].items] == [True, None]
    assert blocks[3] == CodeBlock("x := 1", "go")
    assert isinstance(blocks[5], Table)
    assert blocks[5].aligns == ("left", "right")
    assert blocks_text(blocks) == blocks_text(parse_markdown(blocks_text(blocks)))


def test_html_is_text_and_pictures_are_links() -> None:
    blocks = parse_markdown("<b>x</b> <script>alert(1)</script>\n\n<div>y</div>\n\n![look](https://example.org/x.png)")
    assert words_of(blocks) == "<b>x</b><script>alert(1)</script><div>y</div>look"
    last = blocks[-1]
    assert isinstance(last, Paragraph)
    assert last.runs == (Run("look", 0, "https://example.org/x.png"),)


@pytest.mark.parametrize("text", ["ghp_**0123456789abcdefghij**0123456789abcdef", "`x` password=`hunter2hunter2`"])
def test_marks_hide_no_secret(text: str) -> None:
    shown = words_of(parse_markdown(text))
    assert "0123456789abcdefghij0123" not in shown
    assert "hunter2" not in shown


def test_control_characters_are_written_out() -> None:
    assert words_of(parse_markdown("a\u202eb &#x202E; `c\x1b[31m`")) == "a⟨U+202E⟩b⟨U+202E⟩c⟨U+001B⟩[31m"


HOSTILE = {
    "quotes": "> " * 50_000, "lists": "\n".join("  " * depth + "- x" for depth in range(500)),
    "brackets": "[" * 100_000,
    "links": "[a](" * 25_000, "stars": "*a " * 33_000, "ticks": "`" * 50_000 + " " + "``" * 20_000,
    "long": "word " * 200_000, "table": "|".join("a" * 2_000) + "\n" + "|".join("-" * 2_000) + "\n" + "|x" * 20_000,
    "underscores": "_a_" * 30_000, "entities": "&amp;" * 20_000, "tildes": "~~a" * 30_000, "images": "![" * 40_000,
    "angles": "<" * 100_000, "escapes": "\\" * 100_000, "references": "\n".join(f"[a{n}]: /{n}" for n in range(9_000)),
    "surrogates": "\ud800 **\udfff**", "nested links": "[" * 3_000 + "x" + "](y)" * 3_000,
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_texts_are_parsed_in_time(case: str) -> None:
    began = time.process_time()
    blocks = parse_markdown(HOSTILE[case])
    assert time.process_time() - began < 1.5
    blocks_text(blocks)


@example("`\ta`b")
@given(st.text(alphabet="ab `*_~#>-+|[]()!<&\\1.\n\t", max_size=60))
def test_written_markdown_has_the_same_words(text: str) -> None:
    blocks = parse_markdown(text)
    again = parse_markdown(blocks_text(blocks))
    assert words_of(again) == words_of(blocks)


@given(st.text(alphabet="ab `*_~#>-+|[]()!<&\\1.= \n\t", max_size=60))
def test_an_escaped_text_is_plain(text: str) -> None:
    lines = "\n".join(line.strip() for line in text.split("\n") if line.strip())
    assert words_of(parse_markdown(escaped(lines))) == "".join(lines.split())


def test_markup_in_plain_text_is_copied_as_text() -> None:
    runs = (Run("of "), Run("2 * 3 * 4", RunStyle.BOLD), Run(" <b> "), Run("a`b", RunStyle.CODE))
    assert blocks_text([Paragraph(runs)]) == "of **2 \\* 3 \\* 4** \\<b\\> ``a`b``"


def test_edits_in_code_are_diffs() -> None:
    text = "bread.md\n\n```\n<<<<<<< SEARCH\n20 g salt\n=======\n10 g salt\n>>>>>>> REPLACE\n```"
    [code] = [one for one in parse_markdown(text) if isinstance(one, CodeBlock)]
    assert (code.text, code.language) == ("-20 g salt\n+10 g salt", "diff")


def test_a_wide_or_long_table_is_limited_and_says_so() -> None:
    wide = "|a" * 10_000 + "|\n" + "|-" * 10_000 + "|\n" + "|b|\n" * 5
    (table,) = (block for block in parse_markdown(wide) if isinstance(block, Table))
    assert (len(table.head), len(table.rows), len(table.aligns), table.more) == (100, 5, 100, 0)
    assert table.head[-1][0].text == "… 9,901 more columns"
    assert all(len(row) == 100 and row[-1] == () for row in table.rows)
    (table,) = parse_markdown("|a" * 100 + "|\n" + "|-" * 100 + "|\n" + "|b|\n" * 80)
    assert isinstance(table, Table)
    assert (len(table.head), len(table.rows), table.more, table.head[-1][0].text) == (100, 50, 30, "a")


def test_a_bare_cr_ends_a_line_of_a_plain_paragraph() -> None:
    (one, other) = plain_blocks("a\r- b\r\n\r\nc")
    assert isinstance(one, Paragraph)
    assert one.runs[0].text == "a\n- b"
    assert isinstance(other, Paragraph)


@pytest.mark.parametrize("word", ["a\u05d0", "1\u0628", "a\u0431\u03b1", "\u05d0\u0431", "\u0915\u05d0"])
def test_a_word_that_changes_its_script_very_often_is_cut_and_says_so(word: str) -> None:
    text = f"Before {word * 40_000} after"
    blocks, left = text_blocks(text, whole=True)
    (paragraph,) = blocks
    assert isinstance(paragraph, Paragraph)
    shown = "".join(run.text for run in paragraph.runs)
    assert text.startswith(shown)
    assert 1_000 < len(shown) < 4_000
    assert left == len(text) - len(shown)


@pytest.mark.parametrize("word", ["hello \u05e9\u05dc\u05d5\u05dd ", "a\u6f22", "\u05d0", "b"])
def test_other_long_texts_are_shown_whole(word: str) -> None:
    text = word * (90_000 // len(word))
    assert text_blocks(text, whole=True)[1] == 0
