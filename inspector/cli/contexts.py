"""`contexts`: prints the context tree of a log."""

from __future__ import annotations

from typing import Annotated

import typer

from inspector.cli.arguments import AS_USUAL, Json, LogFiles, Reading, takes_reading
from inspector.cli.opening import opened
from inspector.cli.printing import plain, print_array, print_line, printable
from inspector.engine.requests.context_lists import ListContexts
from inspector.engine.requests.log_facts import DescribeLog
from inspector.present.formats import count_of
from inspector.tokens.counter import TOKENIZER

_MAX_CONCLUSION = 160
"""Length of a conclusion in the tree, in characters."""


@takes_reading("idle_after", "memory", "read_as", "format_file", "prices")
def contexts_command(
    files: LogFiles,
    as_json: Json = False,
    tokens: Annotated[
        bool, typer.Option("--tokens", help="Count tokens, an estimate; a large log takes a while.")
    ] = False,
    reading: Reading = AS_USUAL,
) -> None:
    """Print the context tree of a log."""
    with opened(files, reading, counted=tokens) as log:
        # One by one, since a log may have a million contexts and paths of thousands of segments.
        nodes = log.rows(ListContexts(tokens))
        if as_json:
            print_array(nodes)
            return
        if tokens:
            print_line(f"Tokens are an estimate ({TOKENIZER}).")
        facts = log.answer_to(DescribeLog())
        several = facts.spaces > 1
        found = nested = False
        for node in nodes:
            if node["type"] == "main":
                count, of = node["tokens"], f" of {printable(node['space'] or 'no space', 100)}" if several else ""
                print_line(f"main{of}  {count_of(count, 'token')} of its own")
                continue
            found = True
            nested = nested or node["depth"] == 0  # under a session
            # Paths may have thousands of segments, which would indent a line out of sight.
            indent = "  " * min(node["depth"] - (not nested), 40)
            about = [count_of(node["subtree_messages"], "message"), node["state"]]
            about += [count_of(node["subtree_tokens"], "token")] if "subtree_tokens" in node else []
            if node["type"] == "session":
                about += ["session", *([f"id {node['id']}"] if node["label"] != node["id"] else [])]
                print_line(printable(node["label"], 100) + "  " + printable(", ".join(about), 400))
                continue
            about += [f"{node['type']} ({node['type_reason'].rstrip('.')})"] if node["type"] else []
            about += [f"{key}={plain(value)}" for key, value in node["metadata"].items()]
            if node["ended_by"] is not None:
                about += [f"{_ended_words(node['conclusion'])}, No. {node['ended_by']}"]
            print_line(indent + printable(node["label"], 100) + "  " + printable(", ".join(about), 400))
        if not found:
            print_line("All messages are in the main context." if facts.messages else "There are no messages.")


def _ended_words(conclusion: str | None) -> str:
    """Returns the conclusion of a context, on one line."""
    words = " ".join((conclusion or "").split())
    shown = words if len(words) <= _MAX_CONCLUSION else f"{words[: _MAX_CONCLUSION - 1]}…"
    return f"“{shown}”" if shown else "no words"
