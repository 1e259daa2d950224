"""What is measured, in the table's order: each section turns the figures of a measurement into rows.

Targets are those of docs/design.md 7. Those for 1,000,000 messages are scaled where less is measured.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from tests.bench import mixes, transcripts
from tests.bench.bench import Bench
from tests.bench.process import NotMeasuredError
from tests.bench.table import Row, at_least, at_most, exactly, info, not_measured

MILLION = 1_000_000
LIVE_RATE = 20_000
TALK_RATE = 300
BUSY_RATE = 1_000
"""Of a conversation, messages a second."""
FOLLOW_RATE = 50_000
KILL_RATE = 5_000
LATE_LONGEST_S, LATE_P99_S = 0.016, 0.008
"""Bounds of the lateness of the window's heartbeat: a frame of 60 a second, and half of one."""
QUICK_CASES = ("brackets",)
_ENOUGH = 500_000
_SENDER_RATE = 100_000
"""What the sender must reach by itself, not to be what is measured."""


@dataclass(frozen=True, slots=True)
class Section:
    """One part of the table.

    Attributes:
        name: by which it is asked for.
        title: its heading.
        rows: measures; may raise NotMeasuredError.
    """

    name: str
    title: str
    rows: Callable[[Bench], list[Row]]

    def measured(self, bench: Bench) -> list[Row]:
        """Its rows; one that says why when there are none."""
        try:
            return self.rows(bench)
        except NotMeasuredError as error:
            return [not_measured(self.name, str(error))]


def _scaled(messages: int) -> tuple[float, str]:
    share = messages / MILLION
    return share, "" if share == 1 else f"({messages:,} messages)"


def _opened(
    bench: Bench, kind: str, messages: int, memory_mb: float, *, window_s: float, alone_s: float
) -> list[Row]:  # fmt: skip
    """`window_s` and `alone_s`: until a log is complete in the window, and without one."""
    path = bench.log(kind, messages)
    share, note = _scaled(messages)
    window = bench.measure("open_window", path)
    headless = bench.measure("open_headless", path)
    return [
        at_most("first rows on screen", window["first_s"], 0.5),
        at_most("complete, in the window", window["complete_s"], window_s * share, note=note),
        at_most("complete, no window", headless["complete_s"], alone_s * share, note=note),
        info("messages a second, in the window", window["messages"] / window["complete_s"], ""),
        at_most("heartbeat late, longest", window["late_max_s"], LATE_LONGEST_S),
        at_most("heartbeat late, 99th percentile", window["late_p99_s"], LATE_P99_S),
        _memory("memory above an empty window", window["memory_mb"], memory_mb, messages),
        _memory("memory, no window", headless["memory_mb"], memory_mb, messages),
        info("most memory while reading, in the window, with workers", window["peak_mb"], "MB"),
        exactly("messages", window["messages"], messages),
    ]


def _together(bench: Bench) -> list[Row]:
    messages = bench.sizes.envelopes
    found = bench.measure("together", bench.log("envelopes", messages))
    of_many = messages >= _ENOUGH
    memory = found["together_mb"] / max(1.0, found["alone_mb"])
    return [
        at_most("processor time, by the sum of those alone", found["together_s"] / found["alone_s"], 1.2, "")
        if of_many
        else info("processor time, by the sum of those alone", found["together_s"] / found["alone_s"], ""),
        at_most("memory, by the sum of those alone", memory, 1.1, "")
        if of_many
        else info("memory, by the sum of those alone", memory, ""),
        exactly("messages", found["messages"], messages),
        exactly("in the order of time", int(found["in_order"]), 1),
    ]


def _memory(what: str, used_mb: float, target_mb: float, messages: int) -> Row:
    """Only of many messages: of few, what does not grow with them weighs more than they do."""
    share, note = _scaled(messages)
    if messages < _ENOUGH:
        return info(what, used_mb, "MB")
    return at_most(what, used_mb, target_mb * share, "MB", note=note)


def _envelopes(bench: Bench) -> list[Row]:
    return _opened(bench, "envelopes", bench.sizes.envelopes, 150, window_s=5, alone_s=4)


def _gateway(bench: Bench) -> list[Row]:
    rows = _opened(bench, "gateway-log", bench.sizes.gateway, 250, window_s=15, alone_s=15)
    bench.drop("gateway-log", bench.sizes.gateway)
    return rows


def _reading(bench: Bench) -> list[Row]:
    found = bench.measure("reading", bench.log("envelopes", bench.sizes.envelopes), bench.sizes.reading_turns)
    return [
        info("read into columns, ours", found["ours_s"]),
        info("read_json of the same fields, DuckDB with 2 threads", found["duckdb_s"]),
        info("ours by DuckDB's, median of turns", found["ratio"], "x"),
        at_most("ours by DuckDB's, processor time, median of turns", found["cpu_ratio"], 1.2, "x"),
        exactly("records", found["records"], found["duckdb_records"]),
    ]


def _query(bench: Bench) -> list[Row]:
    messages = bench.sizes.envelopes
    found = bench.measure("query", bench.log("envelopes", messages))
    share, note = _scaled(messages)
    return [
        at_most("first row of a query, slowest of five", found["first_row_s"], 1.0, note=note),
        at_most("Parquet of every field that is a column", found["parquet_s"], max(3.0 * share, 1.0), note=note),
        info("Parquet of all fields, processor time a message", found["parquet_all_us"], "us"),
        at_least("spans received, a second of processor time", found["spans_per_s"], 5_000, ""),
        exactly("spans lost", found["spans_lost"], 0),
    ]


def _filters(bench: Bench) -> list[Row]:
    messages = bench.sizes.envelopes
    found = bench.measure("filters", bench.log("envelopes", messages))
    _, note = _scaled(messages)
    rows = [
        at_most("header filter to repainted table, median", found["median_s"], 0.05, note=note),
        at_most("header filter, slowest of five", found["worst_s"], 0.05, note=note),
        info("header filter, first time", found["first_s"]),
        info("grep -c of a literal", found["grep_s"]),
    ]
    if found["searched"] < found["messages"]:
        part = f"literal full text, first {found['searched']:,} messages"
    else:
        part = "literal full text"
        rows.append(exactly("messages found by text", found["hits"], found["grep_lines"]))
    return [
        *rows,
        info(part, found["text_s"]),
        at_most(f"{part}, by grep -c of the same part", found["text_ratio"], 3, "x"),
        at_most("full text, first hits", found["first_hit_s"], 0.1),
    ]


def _finding(bench: Bench) -> list[Row]:
    messages = bench.sizes.envelopes
    found = bench.measure("finding", bench.log("envelopes", messages), timeout_s=1_800)
    share, note = _scaled(messages)
    rows: list[Row] = []
    for one in found["literals"]:
        what, grep_s = f"text, {one['name']}", one["grep_s"]
        rows += [
            info(f"{what}: grep -c", grep_s),
            at_most(f"{what}: the search alone, by grep -c", one["alone_s"] / grep_s, 3, "x"),
            at_most(f"{what}: in the window to the repainted table, by grep -c", one["window_s"] / grep_s, 3, "x"),
            at_most(f"{what}: find in view, by grep -c", one["find_s"] / grep_s, 3, "x"),
            at_most(f"{what}: first hit", one["first_s"], 0.1) if one["hits"] else info(f"{what}: hits", 0, ""),
            exactly(f"{what}: messages found", one["hits"], one["lines"]),
        ]
    for one in found["patterns"]:
        what = f"expression, {one['name']}"
        rows.append(at_most(f"{what}: find in view, by grep -c -E", one["find_s"] / one["grep_s"], 10, "x"))
        rows.append(exactly(f"{what}: messages found", one["hits"], one["lines"]))
    for one in found["decoded"]:
        rows.append(at_most(f"{one['name']}, by grep -c", one["alone_s"] / one["grep_s"], 10, "x"))
    return [
        *rows,
        at_most("giving a search up, to the repainted table", found["cancel_s"], 0.1),
        at_most("heartbeat late while records are decoded", found["searching_late_s"], 0.1),
        at_most("heartbeat late while an expression that takes for ever is written", found["hostile_late_s"], 0.1),
        *(
            at_most(f"sorted by {name}, to the repainted table", s, share, note=note)
            for name, s in found["sorts"].items()
        ),
        at_most("completion with counts, slowest of six", found["completion_s"], 0.1, note=note),
        at_most("another preset, to the repainted table, median", found["preset_s"], 0.05, note=note),
        info("another preset, slowest", found["preset_worst_s"]),
        info("export as JSON Lines, secrets masked, MB a second", found["export_mb_s"], ""),
    ]


def _growth(bench: Bench) -> list[Row]:
    sizes = bench.sizes
    small = bench.measure("open_headless", bench.log("envelopes", sizes.small))
    large = bench.measure("open_headless", bench.log("envelopes", sizes.large), timeout_s=1_800)
    if sizes.large > sizes.envelopes:
        bench.drop("envelopes", sizes.large)
    factor = sizes.large / sizes.small
    by = f"{sizes.large:,} by {sizes.small:,} messages"
    return [
        at_most(f"time, {by}", large["complete_s"] / small["complete_s"], 1.1 * factor, "x"),
        at_most(f"memory, {by}", large["memory_mb"] / max(1.0, small["memory_mb"]), 1.1 * factor, "x"),
        info(f"complete, {sizes.large:,} messages", large["complete_s"]),
        info(f"memory, {sizes.large:,} messages", large["memory_mb"], "MB"),
    ]


def _checks(bench: Bench) -> list[Row]:
    sizes = bench.sizes
    log = bench.log("envelopes", sizes.envelopes)
    found = bench.measure("checks", log, sizes.checks_turns, sizes.checks_live)
    return [
        at_most("opening, processor time by that without checks", found["ratio"], 1.5, "x"),
        info("opening, with checks", found["with_s"]),
        info("opening, without", found["without_s"]),
        at_least("live messages a second that one core takes in", found["live_per_s"], LIVE_RATE),
        at_most("live, processor time by that without checks", found["live_ratio"], 1.5, "x"),
        info("findings", found["findings"], ""),
    ]


_MIXES = (*mixes.NAMED, "random:1", "random:2")
_GROWTH = 4
_KB_LONG = 4
"""Where messages have kilobytes, fewer."""


def _some(bench: Bench) -> tuple[str, ...]:
    """All mixes; for a quick look the worst of them."""
    return ("contexts", "crowd") if bench.sizes.quick else _MIXES


def _mixes(bench: Bench) -> list[Row]:
    story = _mix_opened(bench, "story", 1)
    return [row for name in ("story", *_some(bench)) for row in _mix(bench, name, story)]


_LONG = 2
"""By the story's: messages of so many times its bytes are judged by the byte."""


def _by_the_story(name: str, found: dict[str, Any], story: dict[str, Any]) -> list[Row]:
    """Processor time a message and a byte by the story's; the target is for the one that says what the mix costs."""
    ratios = {one: found["cpu_s"] / found[one] / (story["cpu_s"] / story[one]) for one in ("messages", "bytes")}
    message, byte = (f"{name}: a {one}, CPU, by the story's" for one in ("message", "byte"))
    if found["bytes"] / found["messages"] > _LONG * story["bytes"] / story["messages"]:
        return [info(message, ratios["messages"], "x"), at_most(byte, ratios["bytes"], 1, "x")]
    return [at_most(message, ratios["messages"], 2, "x"), info(byte, ratios["bytes"], "x")]


def _mix(bench: Bench, name: str, story: dict[str, Any]) -> list[Row]:
    small, large = _mix_opened(bench, name, 1), _mix_opened(bench, name, _GROWTH)
    window = bench.measure("open_window", bench.log(f"mix:{name}", int(small["messages"])))
    for found in (small, large):
        bench.drop(f"mix:{name}", int(found["records"]))
    cpu_s = small["cpu_s"] / small["messages"]
    many = f"{_GROWTH} times as many"
    grown = large["messages"] / small["messages"]
    memory = large["memory_mb"] * 1e6 / large["messages"]
    return [
        *_by_the_story(name, small, story),
        info(f"{name}: a message, CPU, us", 1e6 * cpu_s, ""),
        at_most(f"{name}: {many}, time", large["cpu_s"] / small["cpu_s"] / grown * _GROWTH, 1.1 * _GROWTH, "x"),
        at_most(f"{name}: {many}, memory", large["memory_mb"] / max(1.0, small["memory_mb"]), 1.05 * _GROWTH, "x"),
        info(f"{name}: memory a message", memory, "B")
        if large["messages"] < _ENOUGH
        else at_most(f"{name}: memory a message", memory, 150 if name == "story" else 400, "B"),
        at_most(f"{name}: heartbeat late while opening, longest", window["late_max_s"], LATE_LONGEST_S),
        at_most(f"{name}: heartbeat late while opening, 99th percentile", window["late_p99_s"], LATE_P99_S),
    ]


def _mix_opened(bench: Bench, name: str, times: int) -> dict[str, Any]:
    count = times * bench.sizes.mixes // (_KB_LONG if name == "lengths" else 1)
    return bench.measure("open_headless", bench.log(f"mix:{name}", count), timeout_s=1_800)


def _traces(bench: Bench) -> list[Row]:
    """A trace whose calls repeat their history, by the byte; memory by what is new, which grows with the calls."""
    count = bench.sizes.history_calls
    half, whole = (
        bench.measure("open_headless", bench.log(f"mix:{mixes.HISTORIES}", one)) for one in (count // 2, count)
    )
    speed = whole["bytes"] / 1e6 / whole["cpu_s"]
    kept = "histories: four times the bytes for twice the calls, memory"
    return [
        info("histories: size, MB", whole["bytes"] / 1e6, ""),
        exactly("histories: messages", whole["messages"], 3 * count + 1),
        info("histories: MB a CPU second", speed, "")
        if bench.sizes.quick
        else at_least("histories: MB a CPU second", speed, 10),
        at_most(kept, whole["memory_mb"] / max(1.0, half["memory_mb"]), 3, "x"),
    ]


def _live_mixes(bench: Bench) -> list[Row]:
    return [row for name in _some(bench) for row in _live_mix(bench, name)]


def _live_mix(bench: Bench, name: str) -> list[Row]:
    rate, seconds = LIVE_RATE // (_KB_LONG if name == "lengths" else 1), bench.sizes.mix_live_s
    try:
        found = bench.measure("live", rate, seconds, name, timeout_s=8 * seconds + 120)
    except NotMeasuredError as error:
        return [not_measured(name, str(error))]
    return [
        exactly(f"{name}: in the capture file, in order, bytes as sent", found["bytes_equal"], True),
        exactly(f"{name}: lost", found["lost"], 0),
        at_most(f"{name}: behind when all was sent", found["behind_s"], 1),
        at_most(f"{name}: heartbeat late, longest", found["late_max_s"], LATE_LONGEST_S),
        at_most(f"{name}: heartbeat late, 99th percentile", found["late_p99_s"], LATE_P99_S),
    ]


def _live(bench: Bench) -> list[Row]:
    alone = bench.measure("drain", 3 * _SENDER_RATE)
    calm_s = min(bench.sizes.live_s, 10)
    calm = bench.measure("live", TALK_RATE, calm_s, timeout_s=120)
    painted = {rate: bench.measure("painted", rate, calm_s, timeout_s=120) for rate in (TALK_RATE, BUSY_RATE)}
    return [
        at_least("the sender alone, messages a second", alone["per_s"], _SENDER_RATE),
        *_stamps(f"arrival stamps off, {TALK_RATE} messages/s", calm),
        *(
            at_most(f"frame sent to painted row, {rate} messages/s, {name}", found[f"painted_{key}_s"], limit_s)
            for rate, found in painted.items()
            for key, name, limit_s in (("p50", "median", 0.04), ("p99", "99th percentile", 0.06))
        ),
        *_flood(bench, ""),
    ]


def _stamps(what: str, found: dict[str, Any]) -> list[Row]:
    return [
        info(f"{what}, median", found["stamp_p50_s"]),
        info(f"{what}, 95th percentile", found["stamp_p95_s"]),
        at_most(f"{what}, 99th percentile", found["stamp_p99_s"], 0.002),
    ]


def _live_paused(bench: Bench) -> list[Row]:
    return _flood(bench, "pause")


def _flood(bench: Bench, pause: str) -> list[Row]:
    seconds = bench.sizes.live_s
    bench.need_room(LIVE_RATE * seconds * 500)
    arguments = [LIVE_RATE, seconds, *([pause] if pause else [])]
    found = bench.measure("live", *arguments, timeout_s=8 * seconds + 60)
    rows = [info("waited while the view was paused", found["waiting"], "")] if pause else []
    return [
        exactly("messages received", found["received"], found["sent"]),
        exactly("messages in the capture file", found["kept"], found["sent"]),
        exactly("messages shown", found["shown"], found["should_show"]),
        exactly("lost", found["lost"], 0),
        exactly("duplicates", found["duplicates"], 0),
        exactly("in order, bytes as sent", found["in_order"] and found["bytes_equal"], True),
        *rows,
        at_most("heartbeat late, longest", found["late_max_s"], LATE_LONGEST_S),
        at_most("heartbeat late, 99th percentile", found["late_p99_s"], LATE_P99_S),
        at_most("sent in", found["sent_s"], 1.02 * seconds, note="(the window keeps up)"),
        *_stamps("arrival stamps off", found),
        info("behind when all was sent", found["behind_s"]),
        info("processor time", found["cpu_s"]),
        info("memory gained by the window's process", found["memory_mb"], "MB"),
        info("memory of workers", found["workers_mb"], "MB"),
        info("contexts", found["contexts"], ""),
    ]


def _follow(bench: Bench) -> list[Row]:
    seconds = bench.sizes.follow_s
    bench.need_room(FOLLOW_RATE * seconds * 700)
    found = bench.measure("follow", FOLLOW_RATE, seconds, timeout_s=10 * seconds + 60)
    return [
        exactly("lines lost", found["lost"], 0),
        exactly("lines twice", found["duplicates"], 0),
        exactly("in order", found["in_order"], True),
        exactly("rotations shown as a row", found["rotations"], 1),
        at_most("written in", found["written_s"], 1.05 * seconds, note="(the writer keeps its pace)"),
        at_most("behind when all was written", found["behind_s"], 1.0, note="(the window keeps up)"),
        info("behind, longest (a rotation's grace included)", found["lag_s"]),
        info("heartbeat late, longest", found["late_max_s"]),
        info("heartbeat late, 99th percentile", found["late_p99_s"]),
    ]


def _engine(bench: Bench) -> list[Row]:
    found = bench.measure("engine", bench.sizes.mixes, timeout_s=300)
    kills = bench.measure("engine", bench.sizes.mixes // 10, bench.sizes.kills, timeout_s=30 * bench.sizes.kills + 30)
    opening, rest, hits = found["rows_while_opening_ms"], found["rows_at_rest_ms"], found["filter_ms"]
    return [
        at_most("answers the greeting, processor time", found["hello_ms"][1] / 1000, 0.4),
        at_most("60 rows while opening, 99th percentile, processor time", opening["p99"][1] / 1000, 0.05),
        info("60 rows while opening, median", opening["p50"][0] / 1000),
        info("60 rows at rest, median", rest["p50"][0] / 1000),
        info(f"a filter with {found['hits']:,} hits, median", hits["p50"][0] / 1000),
        info("memory before the first log", found["idle_mb"], "MB"),
        exactly(f"requests without a failure after {kills['kills']} kills", kills["unfailed"], 0),
        exactly("processes and files left behind", kills["left"] + kills["files"], 0),
    ]


def _kill(bench: Bench) -> list[Row]:
    rows: list[Row] = []
    for how in ("window", "record"):
        try:
            found = bench.measure("kill", KILL_RATE, bench.sizes.kills, how, timeout_s=30 * bench.sizes.kills + 30)
        except NotMeasuredError as error:
            rows.append(not_measured(f"{how}: time lost", str(error)))
            continue
        rows += [
            at_most(f"{how}: time lost, longest of {found['kills']} kills", found["lost_s"], 0.1),
            info(f"{how}: messages lost, most", found["lost_messages"], ""),
            exactly(f"{how}: the rest is whole and reads again", found["prefix"] and found["recovered"], True),
        ]
    return rows


def _tap(bench: Bench) -> list[Row]:
    count = bench.sizes.tap_calls
    found = bench.measure("tap", count, count, timeout_s=60 + count / 20)
    call, line = found["call"], found["line"]
    return [
        exactly("calls recorded", found["asked"], count),
        exactly("calls with their one answer", found["answered"], count),
        exactly("lines recorded", found["lines_kept"], found["lines_said"]),
        at_most("call through the tap by call without, median", call["median_ratio"], 1.1, "x"),
        at_most("call through the tap by call without, 99th percentile", call["p99_ratio"], 1.5, "x"),
        info("call without, median", call["direct_median_s"]),
        info("call through the tap, median", call["tapped_median_s"]),
        info("call without, 99th percentile", call["direct_p99_s"]),
        info("call through the tap, 99th percentile", call["tapped_p99_s"]),
        info("added to a line there and back, median, us", 1e6 * line["median_added_s"], ""),
        info("added to a line there and back, 99th percentile, us", 1e6 * line["p99_added_s"], ""),
        at_most("until the server runs, added", found["spawn_s"], 0.15),
    ]


def _fleet(bench: Bench) -> list[Row]:
    logs, messages = bench.sizes.fleet
    found = bench.measure("fleet", logs, messages, timeout_s=900)
    note = f"({logs:,} logs of {messages:,})"
    return [
        at_most("processor time by that of the plain core", found["overhead"], 1.2, "x", note=note),
        at_least("by the clock, one worker by two", found["scaling"], 1.7, "x"),
        at_most("most memory of a worker", found["memory_mb"], 600, "MB", note=note),
        info("plain core, us a message", 1e6 * found["plain_cpu_s"] / found["messages"], ""),
        at_least("a slice by reading headers alone", found["slice_share"], 0.5, "x"),
        info("a slice, MB a second of a core", found["slice_mb_s"], ""),
    ]


def _http_tap(bench: Bench) -> list[Row]:
    calls, many = bench.sizes.tap_calls, 10 * bench.sizes.tap_calls
    found = bench.measure("http_tap", calls, 20_000, many, timeout_s=120 + calls / 20 + many / 200)
    call, first = found["call"], found["first"]
    return [
        exactly("calls recorded", found["written"], found["asked"]),
        exactly("calls with their one answer", found["answered"], found["asked"]),
        at_most("added to a call, median, ms", 1e3 * call["median_added_s"], 1.5, ""),
        info("call without, median", call["direct_median_s"]),
        info("call through the tap, median", call["tapped_median_s"]),
        at_most("added to the first piece of a streamed answer, median, ms", 1e3 * first["median_added_s"], 2.0, ""),
        at_least("events a second through the tap, by those without", found["events_ratio"], 0.5, "x"),
        info("events a second through the tap", found["events_a_second"]["tapped"], ""),
        at_most(f"memory gained over {many:,} calls, MB", found["memory"]["grown_mb"], 10, ""),
    ]


def _tree(bench: Bench) -> list[Row]:
    sizes = bench.sizes
    found = bench.measure("tree", sizes.contexts, 1_000, sizes.flushes)
    return [
        *_flushes(found, "spoke", "1,000 contexts spoke"),
        *_flushes(found, "odd", "1,000 contexts with new findings"),
        *_flushes(found, "new", "1,000 new contexts"),
        *_moving(bench),
        info("contexts", found["contexts"], ""),
    ]


def _folded(bench: Bench) -> list[Row]:
    frames = 10_000 if bench.sizes.quick else 100_000
    found = bench.measure("folded", frames, 400, bench.sizes.flushes)
    return [
        at_most("its row opened in place, CPU", found["open_s"], 0.01),
        at_most("400 more frames a flush, CPU, median", found["flush_median_s"], 0.01),
        info("400 more frames a flush, CPU, longest", found["flush_max_s"]),
        info("what passes do about them, CPU, median", found["passes_median_s"]),
        exactly("rows", found["rows"], 2),
        exactly("frames", found["frames"], frames + 400 * bench.sizes.flushes),
    ]


def _timeline(bench: Bench) -> list[Row]:
    found = bench.measure("timeline", 100_000 if bench.sizes.quick else 1_000_000, 50)
    return [
        at_most("a frame of everything, CPU, median", found["whole_cpu_ms"] / 1000, 0.016),
        at_most("a frame of everything, CPU, longest", found["whole_cpu_max_ms"] / 1000, 0.05),
        at_most("a step of zooming, CPU, median", found["zoom_cpu_ms"] / 1000, 0.016),
        at_most("a step of moving, CPU, median", found["pan_cpu_ms"] / 1000, 0.016),
        info("a frame of everything, median", found["whole_ms"] / 1000),
        info("the pointer moves, median", found["cursor_ms"] / 1000),
        info("first shown", found["made_ms"] / 1000),
        at_most("a flush of 660 messages, the timeline's part, median", found["flush_own_ms"] / 1000, 0.01),
        info("the same, longest", found["flush_own_max_ms"] / 1000),
    ]


def _plots(bench: Bench) -> list[Row]:
    found = bench.measure("plots", 100_000 if bench.sizes.quick else 1_000_000)
    rows: list[Row] = []
    for key, words in (("growth", "context growth"), ("rates", "messages per second")):
        rows += [
            at_most(f"{words}, a frame of everything, CPU, median", found[f"{key}_whole_cpu_ms"] / 1000, 0.016),
            at_most(f"{words}, a step of zooming, CPU, median", found[f"{key}_zoom_cpu_ms"] / 1000, 0.016),
            at_most(f"{words}, a step of moving, CPU, median", found[f"{key}_pan_cpu_ms"] / 1000, 0.016),
            at_most(f"{words}, any of these, CPU, longest", _longest(found, key) / 1000, 0.05),
            info(f"{words}, the pointer moves, median", found[f"{key}_cursor_ms"] / 1000),
        ]
    return [
        *rows,
        info("steps of the context", found["steps"], ""),
        info("first shown", found["made_ms"] / 1000),
        info("the context's growth added up", found["compute_ms"] / 1000),
        *(info(f"tokens by {way}", found[f"by_{way}_ms"] / 1000) for way in ("tool", "context", "participant", "kind")),
    ]


def _longest(found: dict[str, float], key: str) -> float:
    return max(found[f"{key}_{what}_cpu_max_ms"] for what in ("whole", "zoom", "pan"))


def _moving(bench: Bench) -> list[Row]:
    what = "a tenth of the changes moves a context"
    try:
        found = bench.measure("views", "tree", bench.sizes.contexts, 1_000)
    except NotMeasuredError as error:
        return [not_measured(what, str(error))]
    return [
        at_most(f"{what}: flush unpainted, median", found["flush_ms"] / 1000, 0.01),
        at_most(f"{what}: flush unpainted, longest", found["flush_max_ms"] / 1000, 0.01),
        exactly(f"{what}: scroll unmoved", found["unmoved"], True),
    ]


def _flushes(found: dict[str, Any], mode: str, what: str) -> list[Row]:
    return [
        at_most(f"{what}: flush, median", found[f"{mode}_median_s"], 0.01),
        at_most(f"{what}: flush, longest", found[f"{mode}_max_s"], 0.01),
        exactly(f"{what}: selection and scroll unmoved", found[f"{mode}_unmoved"], True),
    ]


def _huge(bench: Bench) -> list[Row]:
    found = bench.measure("huge", bench.sizes.huge_mb, timeout_s=180)
    return [
        info("bytes", found["bytes"], ""),
        info("listed after", found["listed_s"]),
        at_most("heartbeat late while opening", found["open_late_s"], 0.1),
        info("selected after", found["selected_s"]),
        at_most("heartbeat late while selecting", found["select_late_s"], 0.1),
        info("saved after", found["saved_s"]),
        at_most("heartbeat late while saving", found["save_late_s"], 0.1),
        exactly("saved byte for byte", found["saved_equal"], True),
    ]


def _start(bench: Bench) -> list[Row]:
    found = bench.measure("start", bench.sizes.starts)
    return [
        at_most("to the painted window, median", found["start_s"], 0.4),
        info("best", found["best_s"]),
    ]


def _reconnect(bench: Bench) -> list[Row]:
    kills = bench.sizes.reconnects
    found = bench.measure("reconnect", kills, timeout_s=20 * kills + 60)
    return [
        at_most(f"back after its return, longest of {kills}", found["longest_return_s"], 5),
        info("back after its return, mean", found["mean_return_s"]),
        exactly("gap rows", found["gaps"], kills),
        exactly("messages twice", found["duplicates"], 0),
        exactly("missing while connected", found["missing_while_connected"], 0),
        exactly("in order", not found["out_of_order"], True),
        exactly("contexts with another count than messages", found["contexts_wrong"], 0),
    ]


def _hostile(bench: Bench) -> list[Row]:
    if find_spec("tests.hostile") is None:
        raise NotMeasuredError("there is no tests/hostile.py yet")
    from tests.hostile import CASES

    quick = bench.sizes.quick
    return [_hostile_case(bench, case, quick) for case in (QUICK_CASES if quick else CASES)]


def _hostile_case(bench: Bench, case: str, quick: bool) -> Row:
    what = f"{case}: longest stall, opening, looking, exporting"
    try:
        found = bench.measure("hostile", *(["--small"] if quick else []), case, timeout_s=30 if quick else 240)[case]
    except NotMeasuredError as error:
        return not_measured(what, str(error))
    if "failed" in found:  # it crashed: that is a fault, not a figure
        return exactly(f"{case}: opened and looked at", False, True)
    stalls = (found[f"{act}_stall_ms"] for act in ("open", "look", "export"))
    return at_most(what, max(stalls) / 1000, 0.1)


def _tokens(bench: Bench) -> list[Row]:
    messages = bench.sizes.tokens
    found = bench.measure("tokens", bench.log("envelopes", messages), timeout_s=300)
    return [
        exactly("messages counted", found["counted"], messages),
        exactly("sums agree: contexts, participants, tools, kinds, column", found["agree"], True),
        info("messages a second counted beside a window", found["per_s"], ""),
        info("MB a second", found["mb_per_s"], "MB"),
        info("no window, two processes: messages a second", found["headless_per_s"], ""),
        at_most("heartbeat late while counting, longest", found["late_max_s"], LATE_LONGEST_S),
        at_most("heartbeat late while counting, 99th percentile", found["late_p99_s"], LATE_P99_S),
        at_most("opening with counting on, by off", found["opening_ratio"], 1.15, "x"),
        info("processor time of the window while counting, share of a core", found["window_share"], ""),
        info("memory of the process that counts", found["worker_mb"], "MB"),
        info("memory of the window gained by counting", found["window_mb"], "MB"),
    ]


def _lifecycle(bench: Bench) -> list[Row]:
    results = bench.sizes.lifecycle
    small = bench.measure("lifecycle", results // 10, results // 100, timeout_s=300)
    found = bench.measure("lifecycle", results, results // 10, timeout_s=600)
    half = results // 2
    return [
        exactly("results collapsed", found["totals"]["collapsed"], half),
        exactly("results still waiting", found["totals"]["pending"], 0),
        info("results a second, the pass alone", found["per_s"], ""),
        at_most("time for ten times the results and tools", found["seconds"] / small["seconds"], 15, "x"),
        info("share of the time a log of nothing else takes to open", found["share"], ""),
        info("telling all of it again", found["again_s"]),
    ]


def _subsessions(bench: Bench) -> list[Row]:
    sizes = bench.sizes
    found = bench.measure("subsessions", sizes.subsessions, sizes.chat)
    edits = {"add_main": "a message in the chat", "add_own": "a message in the sub-session", "show": "a visibility",
             "add_other": "a message in another sub-session", "undo": "taken back", "merge": "a merge"}  # fmt: skip
    return [
        info("read, CPU", found["read_ms"] / 1000),
        at_most("what a sub-session sees, first time, CPU", found["first_ms"] / 1000, 0.3),
        at_most("the same, longest step", found["first_step_ms"] / 1000, 0.05),
        *(at_most(f"edit: {words}, CPU, median", found[f"{key}_ms"] / 1000, 0.005) for key, words in edits.items()),
        at_most("edit: any of these, CPU, longest", max(found[f"{key}_max_ms"] for key in edits) / 1000, 0.05),
        at_most("recount after an edit, CPU, median", found["recount_ms"] / 1000, 0.016),
        at_most("recount, CPU, longest", found["recount_max_ms"] / 1000, 0.05),
        at_most("list read anew, CPU, median", found["list_ms"] / 1000, 0.016),
        info("save, CPU", found["save_ms"] / 1000),
        exactly("what was saved reads the same", found["kept"], True),
        info("sub-sessions", found["subsessions"], ""),
        info("messages in the chat", found["messages"], ""),
    ]


def _transcripts(bench: Bench) -> list[Row]:
    story = bench.measure("open_headless", bench.log("envelopes", bench.sizes.small))
    story_s = story["cpu_s"] / bench.log("envelopes", bench.sizes.small).stat().st_size
    made = {
        "Claude Code": transcripts.write_claude(bench.folder, round(bench.sizes.claude_mb * 1e6)),
        "Codex": transcripts.write_codex(bench.folder, bench.sizes.codex_children).parent,
    }
    rows: list[Row] = []
    for name, path in made.items():
        size = sum(file.stat().st_size for file in transcripts.files_of(path))
        found = bench.measure("open_headless", path, timeout_s=1_800)
        window = bench.measure("open_window", path, timeout_s=1_800)
        memory = found["memory_mb"] * 1e6 / found["messages"]
        rows += [
            info(f"{name}: size, MB", size / 1e6, ""),
            info(f"{name}: messages", found["messages"], ""),
            at_most(f"{name}: a byte, CPU, by the story's", found["cpu_s"] / size / story_s, 1.5, "x"),
            info(f"{name}: memory a message", memory, "B")
            if bench.sizes.quick
            else at_most(f"{name}: memory a message", memory, 200, "B"),
            at_most(f"{name}: heartbeat late while opening, longest", window["late_max_s"], LATE_LONGEST_S),
        ]
    listed = bench.measure("session_list", bench.sizes.sessions, bench.folder / "sessions")
    rows.append(at_most(f"{listed['sessions']:,} sessions listed", listed["list_s"], 1.0))
    return rows


def _conversation(bench: Bench) -> list[Row]:
    found = bench.measure("conversation", 1_000 if bench.sizes.quick else 20_000, timeout_s=300)
    steps = {40: "the wheel", 120: "a fling", 900: "whole pages"}
    return [
        info("messages", found["messages"], ""),
        at_most("first cards painted", found["first_ms"] / 1000, 0.1),
        info("turns listed", found["turns_ms"] / 1000),
        at_most("heartbeat late meanwhile", found["late_max_s"], 0.05),
        *(
            at_most(f"a frame of scrolling by {words}, 99 of 100", found[f"scroll_{step}_p99_ms"] / 1000, 0.0167)
            for step, words in steps.items()
        ),
        *(
            info(f"frames with a card that had not arrived, {words}", found[f"scroll_{step}_late_share"], "")
            for step, words in steps.items()
        ),
        at_most("a jump to any turn, median", found["jump_p50_ms"] / 1000, 0.05),
        info("a jump to any turn, longest", found["jump_max_ms"] / 1000),
        info("memory beyond the open document, engine included", found["memory_mb"], "MB"),
    ]


def _compare(bench: Bench) -> list[Row]:
    rows: list[Row] = []
    for messages in (1_000,) if bench.sizes.quick else (1_000, 10_000, 100_000):
        found, of = bench.measure("compare", messages, timeout_s=600), f"{messages:,} messages each"
        rows += [
            at_most(f"two runs that part once, {of}", found["parted_s"], 10 * messages / 100_000 + 0.2),
            at_most(f"two runs without equal texts, {of}", found["different_s"], 10 * messages / 100_000 + 0.2),
            at_most(f"most memory beyond the open logs, {of}", found["different_mb"], 500, "MB"),
            exactly(f"differences of runs that part once, {of}", found["parted_differences"], 1),
        ]
    return rows


def _idle(bench: Bench) -> list[Row]:
    quick = bench.sizes.quick
    found = bench.measure("idle", bench.log("envelopes", bench.sizes.small), *((3, 5) if quick else (30, 60)))
    return [
        at_most("a log, share of a core", found["log_share"], 0.01, ""),
        at_most("a gateway that says nothing, share of a core", found["live_share"], 0.01, ""),
    ]


def _sockets(bench: Bench) -> list[Row]:
    found = bench.measure("sockets", 100_000 if bench.sizes.quick else 400_000)
    return [
        at_most("ours by the library's, CPU a frame", found["own_us"] / found["library_us"], 0.5, "x"),
        info("ours, CPU a frame", found["own_us"], "us"),
        info("the library's recv(), CPU a frame", found["library_us"], "us"),
    ]


SECTIONS = (
    Section("start", "Start, warm", _start),
    Section("envelopes", "Open a log of envelopes", _envelopes),
    Section("reading", "Reading alone, the same file by turns", _reading),
    Section("filters", "Filters over that log", _filters),
    Section("query", "SQL over that log, Parquet of it; spans received", _query),
    Section("finding", "Finding and keeping in that log, in the window", _finding),
    Section("growth", "Growth, no window", _growth),
    Section("mixes", "Logs of traffic unlike the story, no window; the window's heartbeat", _mixes),
    Section("transcripts", "Open a session of a coding agent, with its sub-agents", _transcripts),
    Section("conversation", "Read the conversation of 100,000 messages in the window", _conversation),
    Section("compare", "Compare two sessions, no window", _compare),
    Section("gateway", "Open a gateway's log, 4 records a message", _gateway),
    Section("together", "Four sources as one document, by those opened alone", _together),
    Section("checks", "Checks, with and without by turns", _checks),
    Section("tokens", "Tokens, counted behind the window", _tokens),
    Section("lifecycle", "Transient results, many tools in one conversation", _lifecycle),
    Section("live", "Live, 20,000 messages/s of 400 B, filter and tree", _live),
    Section("traces", "A trace whose spans repeat the history, no window", _traces),
    Section("live-mixes", "Live, 20,000 messages/s of each mix", _live_mixes),
    Section("idle", "A window while nothing happens", _idle),
    Section("sockets", "Frames of a WebSocket of 400 B, by turns", _sockets),
    Section("paused", "The same, view paused for the middle third", _live_paused),
    Section("follow", "Follow a log growing by 50,000 lines/s, rotated once", _follow),
    Section("engine", "The engine behind its pipe", _engine),
    Section("kill", "kill -9 at 5,000 messages/s", _kill),
    Section("tap", "A tap between an MCP client and its server", _tap),
    Section("http-tap", "A tap over HTTP", _http_tap),
    Section("fleet", "Surveys and slices by worker processes", _fleet),
    Section("reconnect", "The gateway killed in a row", _reconnect),
    Section("tree", "Context tree, changes a flush", _tree),
    Section("folded", "A stream of 100,000 frames in one row", _folded),
    Section("timeline", "Timeline of 50 participants at 1280x800", _timeline),
    Section("plots", "Plots of one context at 1280x800", _plots),
    Section("subsessions", "Sub-sessions of a long chat", _subsessions),
    Section("huge", "One huge message", _huge),
    Section("hostile", "Hostile input", _hostile),
)
