"""Generated logs for the benchmarks: always the same for the same number of messages, a million in some seconds.

A message is about 620 bytes as an envelope; in a gateway's log each comes once as received and three times as
delivered. Run as `python -m tests.bench.generate envelopes|gateway-log PATH MESSAGES`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from tests.bench import mixes
from tests.bench.story import AGENTS, Envelope, Story, line_of
from tests.bench.template import Template

BLOCK_MESSAGES = 10_000
"""Messages told before the story is repeated under other ids."""


def write_envelopes(path: Path, messages: int) -> int:
    """Write a log of bare envelopes, one a line; returns its size in bytes."""
    return _write(path, messages, envelope_template())


def write_gateway_log(path: Path, messages: int) -> int:
    """Write an `envelope-history.jsonl` with four records a message; returns its size in bytes."""
    return _write(path, messages, gateway_template())


def size_of(kind: str, messages: int) -> int:
    """Bytes a log will have, before it is written; of a mix as many as a long one has.

    Args:
        kind: `envelopes` or `gateway-log`.
        messages: how many.
    """
    if kind == f"mix:{mixes.HISTORIES}":  # each holds those before it
        return 600 * messages**2
    if kind.startswith("mix:"):
        return 4_000 * messages
    return (gateway_template() if kind == "gateway-log" else envelope_template()).size(messages)


@cache
def envelope_template() -> Template:
    """Bare envelopes, one a line."""
    return _template(lambda envelope: iter((envelope,)))


@cache
def gateway_template() -> Template:
    """Four lines of a gateway's log a message."""
    return _template(_log_lines)


def _template(lines: Any) -> Template:
    story = Story()
    told = islice(story.envelopes(), BLOCK_MESSAGES)
    messages = [b"".join(line_of(line) + b"\n" for line in lines(envelope)) for envelope in told]
    return Template(messages, story.times_ms)


def _log_lines(envelope: Envelope) -> Iterator[dict[str, Any]]:
    line = {"timestamp": envelope["ts"], "event": "received", "id": envelope["id"], "envelope": envelope}
    yield {
        **line,
        "participant": envelope["from"],
        "space_id": "bench",
        "direction": "inbound",
        "transport": "websocket",
    }
    for name in AGENTS[:3]:
        yield {
            **line, "event": "delivered", "participant": name, "space_id": "bench", "direction": "outbound",
            "transport": "websocket", "metadata": {"source_participant": envelope["from"]},
        }  # fmt: skip


def _write(path: Path, messages: int, template: Template) -> int:
    with path.open("wb") as file:
        for number in range(-(-messages // len(template))):
            rest = min(messages - number * len(template), len(template))
            file.write(template.block(number)[: int(template.ends[rest])])
    return path.stat().st_size


if __name__ == "__main__":
    write = write_gateway_log if sys.argv[1] == "gateway-log" else write_envelopes
    print(write(Path(sys.argv[2]), int(sys.argv[3])))
