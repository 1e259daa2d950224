"""Surveys one run: opens it in this process, within its memory, and returns rows of SURVEY_TABLES."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from xxhash import xxh3_128

from inspector import __version__
from inspector.analysis import Analysis
from inspector.analysis.findings import Severity
from inspector.analysis.views.account.tool_calls import Calls, calls_of
from inspector.analysis.views.latency.latency import latency_ms
from inspector.analysis.views.waste import WasteFinder, WasteReport
from inspector.document.document import CaptureDocument
from inspector.document.session_titles import title_of_session
from inspector.document.summary import context_nodes, finding_entries, summary
from inspector.formats import registry
from inspector.formats.refused_formats import HOW_TO_DECLARE
from inspector.protocol.secrets.masking import mask_text
from inspector.protocol.timestamps import DATED_FROM_NS, NO_TIME
from inspector.protocol.tool_aliases import ToolAliases, parse_alias
from inspector.reading.files.source_reader import UnknownFormatError
from inspector.sources.transcript_files import members_of
from inspector.store.columns.hashes import NO_ROW
from inspector.store.files.capability_decisions import FILE_NAME
from inspector.survey.run_places import RunPlace, reason_of

_CHUNK = 1 << 20
# Part of `version`, so that unchanged logs are surveyed again after such a change.
_ROWS_VERSION = 4
"""Raised with each change in the meaning of rows."""

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SurveyOptions:
    """Options for each run.

    Attributes:
        tokens: counts tokens and searches for waste.
        aliases: rules in the syntax of `--tool-alias`.
        memory_mb: memory limit of one run in MB; 0 for half of the free memory.
        prices, prices_dated: price lines of models (`analysis.passes.tokens.prices`), and their date.
        reading: forced format; None to detect it.
    """

    tokens: bool = True
    aliases: tuple[str, ...] = ()
    memory_mb: int = 0
    prices: tuple[str, ...] = ()
    prices_dated: str = ""
    reading: str | None = None

    @property
    def version(self) -> str:
        """Version of the program and of all other inputs of the rows."""
        parts = [f"{__version__}/{_ROWS_VERSION}", *sorted(self.aliases)]
        if self.prices:
            told = "\n".join(self.prices).encode()
            parts.append(f"prices-{xxh3_128(told).hexdigest()[:8]}")
        if recipes := registry.recipes():
            told = repr((recipes, self.reading)).encode()
            parts.append(f"formats-{xxh3_128(told).hexdigest()[:8]}")
        return " ".join(parts if self.tokens else [*parts, "no-tokens"])


@dataclass(slots=True)
class RunRows:
    """Result of one run.

    Attributes:
        place: place of the run.
        digest: content hash; "" if it could not be read.
        tables: rows by table; `failures` has the reasons for missing rows.
        unchanged: surveyed before with the same content; no rows.
    """

    place: RunPlace
    digest: str = ""
    tables: dict[str, list[Row]] = field(default_factory=dict)
    unchanged: bool = False

    @property
    def failed(self) -> bool:
        """Returns True if the run has only a failure."""
        return not self.unchanged and "runs" not in self.tables


class FailedError(Exception):
    """A run cannot be surveyed; the text is the reason.

    Attributes:
        kind: value of the column in `failures`.
    """

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


def survey_run(place: RunPlace, options: SurveyOptions, known: str = "", folder: str | None = None) -> RunRows:
    """Surveys one run. Raises no errors; a failure becomes a row of `failures`.

    Args:
        place: place of the run.
        options: survey options.
        known: digest of the last survey, to skip a file with a new time and old content.
        folder: temporary folder for files of a store; None for the default.
    """
    found = RunRows(place)
    try:
        with tempfile.TemporaryDirectory(prefix="context-inspector-", dir=folder) as here:
            path = fetched(place, Path(here)) if place.is_remote else Path(place.path)
            if path.exists() and not path.is_file():
                raise FailedError("unreadable", "It is no file.")  # reading a pipe would block
            found.digest = _digest(_files(path))
            # A copied or touched file has another time, but the same content.
            if found.digest == known:
                found.unchanged = True
                return found
            found.tables = _surveyed(place, path, found.digest, options)
    except FailedError as failure:
        found.tables = {"failures": [failure_row(place, failure.kind, str(failure), options, found.digest)]}
    except UnknownFormatError as error:
        # The same advice would repeat in each row.
        text = str(error).removesuffix(HOW_TO_DECLARE).rstrip()
        found.tables = {"failures": [failure_row(place, "unknown", text, options, found.digest)]}
    except MemoryError:
        found.tables = {"failures": [failure_row(place, "memory", "It needs more memory than there is.", options)]}
    except Exception as error:  # noqa: BLE001 - a log that breaks the program costs its own rows alone
        kind = "unreadable" if isinstance(error, OSError) else "worker"
        text = f"It cannot be read: {reason_of(error)}." if kind == "unreadable" else _failure_words(error)
        found.tables = {"failures": [failure_row(place, kind, text, options)]}
    return found


def failure_row(place: RunPlace, kind: str, text: str, options: SurveyOptions, digest: str = "") -> Row:
    """Returns a row of `failures`."""
    return {
        "run": run_name(place.path, digest, options.version), "path": place.path, "kind": kind, "text": mask_text(text),
        "size": place.size, "modified": place.modified, "digest": digest or None, "version": options.version,
        "surveyed": time.time_ns(),
    }  # fmt: skip


def run_name(path: str, digest: str, version: str) -> str:
    """Returns the id of a run in all tables."""
    return xxh3_128(f"{path}\0{digest}\0{version}".encode("utf-8", "surrogatepass")).hexdigest()


def _failure_words(error: Exception) -> str:
    return f"The program failed on it: {type(error).__name__}: {reason_of(error)}."


# Files


def _files(path: Path) -> list[Path]:
    """Returns all files of a run on disk, its own first."""
    members = [member.path for member in members_of(path)[0]] if path.suffix == ".jsonl" or path.is_dir() else []
    beside = [path.with_name(FILE_NAME)] if path.name.startswith("envelope-history.jsonl") else []
    return list(dict.fromkeys([path, *members, *(one for one in beside if one.is_file())]))


def _digest(files: Sequence[Path]) -> str:
    """Returns a content hash of files."""
    found = xxh3_128()
    for path in files:
        # With name and size, so that bytes moved between two files change the digest.
        found.update(f"{path.name}\0{path.stat().st_size}\0".encode("utf-8", "surrogatepass"))
        with path.open("rb") as file:
            while data := file.read(_CHUNK):
                found.update(data)
    return found.hexdigest()


def fetched(place: RunPlace, folder: Path) -> Path:
    """Downloads a run of a store into a folder; returns its own file.

    Raises:
        FailedError: it cannot be downloaded.
    """
    from fsspec.core import url_to_fs

    store, name = url_to_fs(place.path)
    above = name.rpartition("/")[0]
    own = folder / name.rpartition("/")[2]
    try:
        store.get_file(name, str(own))
        for other in place.beside:
            inner = url_to_fs(other)[1]
            # The layout of folders stays, since readers find sub-agents by it.
            target = folder / inner[len(above) :].lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            store.get_file(inner, str(target))
    except Exception as error:  # each store has its own errors
        raise FailedError("unreadable", f"It cannot be fetched: {reason_of(error)}.") from error
    return own


# Reading


def _surveyed(place: RunPlace, path: Path, digest: str, options: SurveyOptions) -> dict[str, list[Row]]:
    began = time.perf_counter()
    files = _files(path)
    if not any(one.stat().st_size for one in files):
        raise FailedError("empty", "It is empty.")
    document = CaptureDocument()
    # Several workers share the machine, so each has its own limit.
    document.memory.limit_to(options.memory_mb)
    document.set_tool_aliases(ToolAliases([parse_alias(text) for text in options.aliases]))
    try:
        document.set_prices(options.prices, options.prices_dated)
        document.load(
            path, reading=options.reading, together=len(members_of(path)[0]) > 1 if path.suffix == ".jsonl" else False
        )
        if document.memory.is_full:
            raise FailedError("memory", document.memory.full_message)
        if not len(document.capture):
            raise FailedError("empty", "There are no messages in it.")
        document.run_postponed_checks(math.inf)
        waste: WasteReport | None = None
        if options.tokens:
            document.analysis.tokens.count_some(math.inf)
            finder = WasteFinder(document.analysis)
            while not finder.go_on(math.inf):
                pass
            waste = finder.found
        name = run_name(place.path, digest, options.version)
        tables = _rows(document, place.path, waste)
        tables["runs"][0] |= {
            "files": len(files), "size": place.size, "modified": place.modified,
            "digest": digest, "version": options.version, "surveyed": time.time_ns(),
            "seconds": round(time.perf_counter() - began, 6),
        }  # fmt: skip
        unchecked = document.failed_checks
        # A failed check leaves the counts complete, so it is a failure of another kind.
        partial = [sentence for sentence in document.read_errors if sentence not in unchecked]
        tables["failures"] = [
            failure_row(place, kind, " ".join(sentences), options, digest)
            for kind, sentences in (("partial", partial), ("unchecked", unchecked)) if sentences
        ]  # fmt: skip
        for rows in tables.values():
            for row in rows:
                # Every table names the run and its path, so queries need no join.
                row.update(run=name, path=place.path)
        return tables
    finally:
        document.close()


def _rows(document: CaptureDocument, path: str, waste: WasteReport | None) -> dict[str, list[Row]]:
    analysis = document.analysis
    told = summary(document, path)
    calls, took = calls_of(analysis), latency_ms(analysis, slice(0, len(analysis)))
    findings = list(finding_entries(document))
    tools = list(_tools(analysis, calls, took))
    rows: dict[str, list[Row]] = {
        "runs": [_run_row(document, told, findings, calls, took, waste)],
        "findings": [
            {**one, "text": mask_text(one["text"]), "context": _masked(one["context"])} for one in findings
        ],
        "tools": tools,
        "contexts": list(_contexts(document)),
    }  # fmt: skip
    if told["tokens"] is not None:
        rows["tokens"] = [
            {"by": by, "name": _masked(name) or None, "tokens": tokens}
            for by, each in (("participant", "participants"), ("tool", "tools"), ("kind", "kinds"))
            for name, tokens in told["tokens"][each].items()
        ]
    if waste is not None:
        rows["waste"] = [
            {
                "no": one.message + 1, "kind": one.kind.value, "tokens": one.tokens, "sure": one.sure,
                "participant": _masked(one.participant), "tool": _masked(one.tool), "text": mask_text(one.sentence),
            }
            for one in waste.wastes
        ]  # fmt: skip
    return rows


def _run_row(
    document: CaptureDocument, told: Row, findings: Sequence[Row], calls: Calls, took: Any, waste: WasteReport | None
) -> Row:
    times = document.capture.columns["time_ns"]
    known = times[times != NO_TIME]
    first, last = (int(known.min()), int(known.max())) if len(known) else (NO_TIME, NO_TIME)
    answered = calls.answers[calls.answers != NO_ROW]
    latency = took[answered]
    latency = latency[~np.isnan(latency)]
    counts = {word: sum(one["severity"] == word for one in findings) for word in ("error", "warning")}
    worst = max((one for one in Severity if any(f["severity"] == one.word for f in findings)), default=None)
    spared = waste.wastes if waste is not None else ()
    return {
        "format": told["format"], "title": title_of_session(document.capture) or None,
        "messages": told["messages"], "records": told["records"],
        "unreadable": told["unreadable"], "participants": len(told["participants"]), "contexts": told["contexts"],
        "first": first if first >= DATED_FROM_NS else None, "last": last if first >= DATED_FROM_NS else None,
        "duration": (last - first) / 1e9 if len(known) else None,
        "models": [mask_text(name) for name in told["models"] if name], "model_calls": sum(told["models"].values()),
        "tools": [mask_text(tool) for tool in told["tool_counts"] if tool],
        "tool_calls": told["calls"]["tools"], "failed_calls": told["calls"]["failed"],
        "unanswered_calls": told["calls"]["unanswered"], "first_failed": _first_no(calls.rows[calls.failed]),
        "findings": len(findings), "errors": counts["error"], "warnings": counts["warning"],
        "worst": worst.word if worst is not None else None,
        "worst_no": min((one["no"] for one in findings if worst and one["severity"] == worst.word), default=None),
        "tokens": told["tokens"]["total"] if told["tokens"] is not None else None,
        "wasted": waste.tokens if waste is not None else None,
        "wasted_no": spared[0].message + 1 if spared else None,
        **{f"usage_{name}": value for name, value in (told["usage"] or {}).items()},
        "stated_cost": told["stated_cost"],
        "cost": told["cost"]["total"] if told["cost"] is not None else None,
        "latency_p50": _percentile(latency, 50), "latency_p95": _percentile(latency, 95),
        "slowest_no": int(answered[np.nanargmax(took[answered])]) + 1 if len(latency) else None,
    }  # fmt: skip


def _tools(analysis: Analysis, calls: Calls, took: Any) -> Iterator[Row]:
    strings = analysis.capture.strings
    codes = analysis.correlation.columns["target"][calls.rows]
    tokens = analysis.tokens.columns["tokens"]
    for code, each in tool_places(codes):
        rows, answers = calls.rows[each], calls.answers[each]
        there = answers[answers != NO_ROW]
        answered, latency = int(np.count_nonzero(calls.answered[each])), took[there]
        known = latency[~np.isnan(latency)]
        # Uncounted messages have negative values.
        cost = int(np.maximum(tokens[np.concatenate((rows, there))], 0).sum(dtype=np.int64))
        yield {
            "tool": mask_text(strings[code]) if code else None, "calls": len(rows), "answered": answered,
            "failed": int(np.count_nonzero(calls.failed[each])), "unanswered": len(rows) - answered,
            "first_no": int(rows[0]) + 1, "first_failed": _first_no(rows[calls.failed[each]]),
            "latency_p50": _percentile(known, 50), "latency_p95": _percentile(known, 95),
            "longest": float(known.max()) if len(known) else None,
            "slowest_no": int(there[np.nanargmax(latency)]) + 1 if len(known) else None,
            "tokens": cost if analysis.tokens.done else None,
        }  # fmt: skip


def tool_places(codes: Any) -> list[tuple[int, Any]]:
    """Returns the indices of each code, by descending frequency."""
    found, which, counts = np.unique(codes, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return [(int(found[place]), np.flatnonzero(which == place)) for place in order.tolist()]


def _contexts(document: CaptureDocument) -> Iterator[Row]:
    for node in context_nodes(document):
        if node["path"] is not None:
            yield {
                "context": mask_text(node["path"]), "label": _masked(node["label"]), "type": _masked(node["type"]),
                "state": node["state"], "depth": node["depth"], "messages": node["messages"],
                "subtree_messages": node["subtree_messages"],
                "participants": [mask_text(name) for name in node["participants"]], "first_no": node["first"],
            }  # fmt: skip


def _percentile(values: Any, percent: int) -> float | None:
    return float(np.percentile(values, percent)) if len(values) else None


def _first_no(rows: Any) -> int | None:
    return int(rows[0]) + 1 if len(rows) else None


def _masked(text: str | None) -> str | None:
    return None if text is None else mask_text(text)
