"""`summary`: what a log holds."""

from __future__ import annotations

from itertools import islice
from typing import Any

from inspector.cli.opening import Json, LogFile, opened
from inspector.cli.printing import MOST_LISTED, dump, echo, masked_table, printable, say
from inspector.protocol.secrets import mask_secrets
from inspector.summary import summary


def summary_command(file: LogFile, as_json: Json = False) -> None:
    """Say what a log holds: messages, participants, kinds, contexts, badges."""
    with opened(file, checked=True) as document:
        counted = summary(document, file)
    tables = {name: masked_table(counted[name]) for name in ("kinds", "badges", "findings")}
    latency = {title: masked_table(rows) for title, rows in counted["latency"].items()}
    found: dict[str, Any] = {**mask_secrets(counted), **tables, "latency": latency}
    if as_json:
        echo(dump(found))
        return
    say(f"{found['file']}: {found['format'] or 'nothing known'}")
    say(f"  {found['messages']:,} messages in {found['records']:,} records, {found['unreadable']:,} unreadable")
    say(f"  spaces        {_some(found['spaces']) or 'none named'}")
    say(f"  participants  {_some(found['participants']) or 'none'}")
    say(f"  contexts      {found['contexts']:,}; {found['main']:,} messages in main")
    by_code = ", ".join(f"{count:,} {code}" for code, count in found["findings"].items())
    say(f"  findings      {by_code or 'none'}")
    badges = ", ".join(f"{count} {name}" for name, count in found["badges"].items())
    say(f"  tool results  {badges}")
    _say_latencies(found["latency"])
    for kind, count in islice(found["kinds"].items(), MOST_LISTED):
        say(f"  {count:>9,}  {printable(kind, 120) or '(no readable kind)'}")
    if len(found["kinds"]) > MOST_LISTED:
        say(f"  and {len(found['kinds']) - MOST_LISTED:,} more kinds")


def _say_latencies(found: dict[str, dict[str, dict[str, float]]]) -> None:
    for title, rows in found.items():
        if not rows:
            continue
        heads = "".join(f"{part:>11}" for part in ("p50", "p95", "p99"))
        say(f"  {f'latency in ms, by {title[:-1]}':38}{heads}{'answers':>10}")
        for name, one in islice(rows.items(), _MOST_LATENCIES):
            percentiles = "".join(f"{one[part]:>11,.1f}" for part in ("p50", "p95", "p99"))
            say(f"    {printable(name, 36):36}{percentiles}{one['count']:>10,}")
        if len(rows) > _MOST_LATENCIES:
            say(f"    and {len(rows) - _MOST_LATENCIES:,} more")


_MOST_LATENCIES = 20


def _some(names: list[str]) -> str:
    """Names for people to read: so many, each of them cut."""
    more = f", and {len(names) - MOST_LISTED:,} more" if len(names) > MOST_LISTED else ""
    return ", ".join(printable(name, 120) for name in names[:MOST_LISTED]) + more
