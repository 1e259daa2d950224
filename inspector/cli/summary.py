"""`summary`: prints an overview of a log: sources, account, models, tokens, contexts, latencies."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from shlex import quote
from typing import Annotated, Any

import typer

from inspector.analysis.views.latency.latency import MIN_ANSWERS
from inspector.cli.arguments import AS_USUAL, JUDGED, Json, LogFiles, Reading, takes_reading
from inspector.cli.opening import named, opened
from inspector.cli.printing import LONGEST_NAMES, MOST_LISTED, dump, echo, print_line, printable
from inspector.engine.requests.overview import ShowOverview
from inspector.engine.requests.summaries import LogSummary, SummarizeLog
from inspector.present.account import Account
from inspector.present.formats import count_of, dollars
from inspector.present.overview.cards import Overview, overview_json
from inspector.present.step_texts import AT_MOST
from inspector.present.token_facts import incomplete_words, unlogged_words
from inspector.protocol.secrets.masking import mask_text

_WORK = ("runs", "time", "changes", "problems")
"""Ids of the cards about work."""
_MOST_SPACES = 12


@takes_reading(*JUDGED, "prices")
def summary_command(
    files: LogFiles,
    as_json: Json = False,
    tokens: Annotated[
        bool | None,
        typer.Option("--tokens/--no-tokens", help="Count tokens, an estimate. Default: only in a small log."),
    ] = None,
    reading: Reading = AS_USUAL,
) -> None:
    """Print an overview of a log: messages, participants, kinds, contexts, badges, tokens."""
    with opened(files, reading, checked=True, counted=_COUNTED_BYTES if tokens is None else tokens) as log:
        answer = log.answer_to(SummarizeLog(named(files), tokens=tokens is not False))
        overview = log.answer_to(ShowOverview())
    found = answer.figures
    if as_json:
        found["overview"] = overview_json(overview)
        echo(dump(found))
        return
    known = answer.sources[0].known_format if answer.sources else None
    mostly = f"most lines have an unknown format; some are {known}" if known else "unknown format"
    print_line(f"{printable(found['file'], LONGEST_NAMES)}: {found['format'] or mostly}")
    messages, records = count_of(found["messages"], "message"), count_of(found["records"], "record")
    print_line(f"  {messages} in {records}, {found['unreadable']:,} unreadable")
    _print_sources(answer)
    _print_account(answer.account)
    _print_work(overview)
    print_line(f"  spaces        {_joined_names(found['spaces'], _MOST_SPACES) or 'none named'}")
    names = found.get("shown_names", {})
    print_line(f"  participants  {_joined_names([names.get(one, one) for one in found['participants']]) or 'none'}")
    print_line(f"  contexts      {found['contexts']:,}; {count_of(found['main'], 'message')} in main")
    by_code = ", ".join(f"{count:,} {code}" for code, count in found["findings"].items())
    print_line(f"  findings      {by_code or 'none'}")
    if answer.failed:
        print_line(f"  failures      {answer.failed:,}; `list FILE -Y {quote(answer.failed_filter)}` lists them")
    _print_models(found)
    badges = ", ".join(f"{count} {name}" for name, count in found["badges"].items())
    print_line(f"  tool results  {badges}")
    _print_tokens(found["tokens"], names)
    _print_contexts(found["context"])
    _print_latencies(found["latency"], names)
    for kind, count in islice(found["kinds"].items(), MOST_LISTED):
        print_line(f"  {count:>9,}  {printable(kind, 120) or '(no readable kind)'}")
    if len(found["kinds"]) > MOST_LISTED:
        print_line(f"  and {count_of(len(found['kinds']) - MOST_LISTED, 'more kind')}")


def _print_sources(answer: LogSummary) -> None:
    """Prints records and clock offsets by source, if there are several."""
    sources = answer.sources
    if len(sources) < 2:
        return
    shared = count_of(answer.shared_records, "record")
    print_line(f"  sources       {len(sources):,}; {shared} that another source has too")
    for source in islice(sources, MOST_LISTED):
        offset = f", clock corrected by {source.clock_offset_ns / 1e6:+,.1f} ms" if source.clock_offset_ns else ""
        records = count_of(source.records, "record")
        print_line(f"    {printable(mask_text(source.name), 60)}: {source.format or 'no format'}, {records}{offset}")
    if len(sources) > MOST_LISTED:
        print_line(f"    and {len(sources) - MOST_LISTED:,} more")


def _print_account(account: Account) -> None:
    """Prints the sentences of the account, each with its message number."""
    print_line(f"  what happened: {account.head}")
    for line in account.lines:
        no = (
            "" if line.message is None or line.text.endswith(f"No. {line.message + 1}") else f", No. {line.message + 1}"
        )
        print_line(f"    {line.about:14}{printable(line.text, 300)}{no}")


def _print_work(overview: Overview) -> None:
    """Prints the head of an overview and its cards about work: runs, time, changes, failed calls with repairs."""
    print_line(f"  {printable(overview.above, 300)}")
    for card in overview.cards:
        lines = card.texts
        if card.id == "problems":
            # The account has the other problems.
            rows = [row for section in card.sections for row in section.rows]
            lines = [row.text for row in rows if row.key.startswith(("failed ", "rejected "))]
        if card.id in _WORK and lines:
            print_line(f"  {card.title[:1].lower()}{card.title[1:]}")
            for line in lines:
                print_line(f"    {printable(line, 300)}")


def _print_models(found: dict[str, Any]) -> None:
    """Prints tool calls, model calls, and their reported usage and cost."""
    calls, usage = found["calls"], found["usage"]
    if calls["tools"]:
        parts = [f"{calls[name]:,} {name}" for name in ("answered", "failed", "unanswered")]
        parts += [f"{calls['untraced']:,} without a recorded result"] if "untraced" in calls else []
        parts += [f"{calls['rejected']:,} rejected by the user"] if calls["rejected"] else []
        print_line(f"  tool calls    {calls['tools']:,}: {', '.join(parts)}")
    if found["compactions"]:
        print_line(f"  compactions   {found['compactions']:,}")
    if found["models"]:
        missing = f"; {found['unreported']:,} without reported tokens" if "unreported" in found else ""
        models = ", ".join(f"{n:,} of {printable(name, 60)}" for name, n in found["models"].items())
        print_line(f"  model calls   {models}{unlogged_words(found.get('uncounted_sub_agents', 0))}{missing}")
    if usage is not None:
        print_line(
            f"  reported      {usage['input']:,} tokens in, {usage['output']:,} out, {usage['cache_read']:,} read from "
            f"a cache, {usage['cache_write']:,} written to one{incomplete_words(found.get('incomplete_output', 0))}"
        )
    if (cost := found["cost"]) is not None:
        names = ", ".join(printable(model, 60) for model in cost["without_price"][:_MAX_MODELS])
        unpriced = f", {count_of(cost['unpriced'], 'call')} without a price" if cost["unpriced"] else ""
        unpriced += f" ({names})" if names else ""
        dated = f", prices of {printable(cost['prices_of'], 60)}" if cost["prices_of"] else ""
        caches = dollars(cost["cache_read"] + cost["cache_write"])
        known = f"{dollars(cost['total'])}, {caches} of it for caches{unpriced}{dated}"
        print_line(f"  cost          {known if cost['calls'] else 'not known' + unpriced}")
    if found["stated_cost"] is not None:
        print_line(f"  stated cost   {dollars(found['stated_cost'])}, by the session itself")
    if found["sub_agents"]:
        print_line(f"  sub-agents    {found['sub_agents']:,}")


_MAX_MODELS = 5
_COUNTED_BYTES = 32 << 20
"""Tokens are counted by default in logs of at most this many bytes, about two seconds of work."""


def _print_tokens(counted: dict[str, Any] | None, names: dict[str, str]) -> None:
    if counted is None:
        print_line("  tokens        not counted; --tokens counts them")
        return
    left = f", {count_of(counted['uncounted'], 'message')} not counted" if counted["uncounted"] else ""
    print_line(f"  tokens        {counted['total']:,}, estimate ({counted['tokenizer']}){left}")
    collapsed = counted["collapsed"]
    if collapsed["results"]:
        results = count_of(collapsed["results"], "result")
        print_line(
            f"    {'with collapsing':36}{counted['with_collapsing']:>11,}  "
            f"({collapsed['saved']:,} saved: {results} of {collapsed['before']:,} tokens became "
            f"{'a summary' if collapsed['results'] == 1 else 'summaries'} of {collapsed['after']:,})"
        )
    others = {"(tool definitions)": counted["tool_definitions"], "(everything else)": counted["no_tool"]}
    tools = {**counted["tools"], **others}
    _print_tokens_by("sent by", [(names.get(name) or name, n) for name, n in counted["participants"].items()])
    _print_tokens_by("by tool", tools.items())
    _print_tokens_by("by kind", counted["kinds"].items())
    # Labels may repeat, as the "fetch" of different tasks; paths alone are hard to read.
    _print_tokens_by("by context, its own", [(_context_name(one), one["own"]) for one in counted["contexts"]])


def _print_contexts(contexts: list[dict[str, Any]] | None) -> None:
    """Prints the tokens that stayed in each model's context, with and without collapsing."""
    if contexts:
        print_line("    in the context of each model")
    for one in (contexts or [])[:_MAX_TOKEN_ROWS]:
        print_line(f"      {printable(one['sentence'], 200)}")
    if contexts and len(contexts) > _MAX_TOKEN_ROWS:
        print_line(f"      and {len(contexts) - _MAX_TOKEN_ROWS:,} more")


_MAX_TOKEN_ROWS = 8
_NAME_WIDTH = 34


def _print_tokens_by(title: str, tokens: Iterable[tuple[str, int]]) -> None:
    rows = sorted(((name, number) for name, number in tokens if number), key=lambda one: -one[1])
    if not rows:
        return
    print_line(f"    {title}")
    for name, number in rows[:_MAX_TOKEN_ROWS]:
        print_line(f"      {printable(name, _NAME_WIDTH) or '(none)':{_NAME_WIDTH}}{number:>11,}")
    if len(rows) > _MAX_TOKEN_ROWS:
        print_line(f"      and {len(rows) - _MAX_TOKEN_ROWS:,} more")


def _context_name(one: dict[str, Any]) -> str:
    """Returns the label of a context, followed by the label of its parent."""
    return f"{one['label']}, in {one['inside']}" if one["inside"] else one["label"]


def _print_latencies(found: dict[str, dict[str, dict[str, float]]], names: dict[str, str]) -> None:
    for title, rows in found.items():
        if not rows:
            continue
        longest = max(one["count"] for one in rows.values())
        shown = {part: enough for part, enough in MIN_ANSWERS.items() if longest >= enough}
        heads = "".join(f"{part:>11}" for part in shown)
        print_line(f"  {f'latency in ms, by {title[:-1]}':38}{heads}{'answers':>10}")
        for name, one in islice(rows.items(), _MAX_LATENCIES):
            parts = (f"{one[part]:,.1f}" if one["count"] >= enough else "" for part, enough in shown.items())
            percentiles = "".join(f"{figure:>11}" for figure in parts)
            bound = f"  {one['at_most']:,} {AT_MOST}" if "at_most" in one else ""
            print_line(f"    {printable(names.get(name, name), 36):36}{percentiles}{one['count']:>10,}{bound}")
        if len(rows) > _MAX_LATENCIES:
            print_line(f"    and {len(rows) - _MAX_LATENCIES:,} more")


_MAX_LATENCIES = 20


def _joined_names(names: list[str], most: int = MOST_LISTED) -> str:
    """Joins names for people, each cut, at most `most`."""
    more = f", and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(printable(name, 120) for name in names[:most]) + more
