"""Converts trajectories in ATIF: a step a line, steps of sub-agents after the step that started them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from inspector.formats.atif.reader import LABEL, refs_of
from inspector.formats.entry_builders import token_count
from inspector.formats.file_conversion import NotConvertedError
from inspector.formats.file_records import first_record
from inspector.formats.run_files import (
    Run,
    RunFacts,
    decoded_document,
    documents_in,
    number_or_none,
    run_converter,
)
from inspector.formats.value_conversions import mapping_or_empty, mappings_in, text_or_none
from inspector.protocol.timestamps import parse_time

_MARKS = b'"schema_version"', b"ATIF-v"
_VERSION = "ATIF-v"
_PARTS = ("steps", "subagent_trajectories")
_MOST_FILES = 1_000
_MAX_BESIDE = 1 << 28


def begins_trajectory(head: bytes) -> bool:
    """Returns True for the first bytes of a trajectory, or of several."""
    return all(mark in head for mark in _MARKS) and is_trajectory(first_record(head))


def is_trajectory(value: Mapping[str, Any]) -> bool:
    return str(value.get("schema_version")).startswith(_VERSION)


def runs_in(path: Path) -> Iterator[Run]:
    for number, document in enumerate(documents_in(path), 1):
        value = decoded_document(document)
        if is_trajectory(value):
            yield Run(facts_of(value, number), partial(lines_of, value, path.parent))


def facts_of(value: Mapping[str, Any], number: int) -> RunFacts:
    final = mapping_or_empty(value.get("final_metrics"))
    steps = mappings_in(value.get("steps"))
    return RunFacts(
        name=text_or_none(value.get("session_id")) or text_or_none(value.get("trajectory_id")) or str(number),
        model=text_or_none(mapping_or_empty(value.get("agent")).get("model_name")),
        began_ns=parse_time(steps[0].get("timestamp") if steps else None),
        cost=number_or_none(final.get("total_cost_usd")),
        input_tokens=token_count(final, "total_prompt_tokens") or None,
        output_tokens=token_count(final, "total_completion_tokens") or None,
    )  # fmt: skip


def lines_of(value: Mapping[str, Any], folder: Path) -> Iterator[dict[str, Any]]:
    yield from _Trajectories(folder).lines(value, None)


class _Trajectories:
    """Lines of a trajectory with those of its sub-agents and continuations, each once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen: set[str] = set()

    def lines(self, value: Mapping[str, Any], agent: str | None) -> Iterator[dict[str, Any]]:
        """Yields the lines of a trajectory; `agent` is the id of its sub-agent."""
        above = {"agent": agent} if agent is not None else {}
        told = mapping_or_empty(value.get("agent")).get("model_name")
        if isinstance(told, str):
            above["model"] = told
        inner = {key: one for one in mappings_in(value.get("subagent_trajectories")) if (key := _name_of(one))}
        yield {**above, "record": {key: one for key, one in value.items() if key not in _PARTS}}
        steps = mappings_in(value.get("steps"))
        by_model = [step for step in steps if step.get("source") == "agent"]
        # Steps without tokens of their own: the totals are told once.
        totals = {} if any(step.get("metrics") for step in steps) else mapping_or_empty(value.get("final_metrics"))
        for step in steps:
            line: dict[str, Any] = {**above, "record": step}
            if step is steps[-1]:
                line["last"] = True
            if totals and by_model and step is by_model[-1]:
                line["totals"] = totals
            yield line
            for identifier, ref in refs_of(step):
                found = inner.pop(identifier, None) or self._beside(ref.get("trajectory_path"))
                if found is not None:
                    yield from self.lines(found, identifier)
        for identifier, one in inner.items():
            yield from self.lines(one, identifier)
        if (following := self._beside(value.get("continued_trajectory_ref"))) is not None:
            yield from self.lines(following, agent)

    def _beside(self, name: object) -> Mapping[str, Any] | None:
        """Returns a trajectory in the same folder, unless it was there already."""
        # Only a plain name: a strange file must not lead to other folders.
        if not isinstance(name, str) or Path(name).name != name or name in self._seen or len(self._seen) > _MOST_FILES:
            return None
        self._seen.add(name)
        path = self._folder / name
        if not path.is_file() or path.is_symlink() or path.stat().st_size > _MAX_BESIDE:
            return None
        try:
            value = decoded_document(path.read_bytes())
        except NotConvertedError:
            return None
        return value if is_trajectory(value) else None


def _name_of(value: Mapping[str, Any]) -> str | None:
    return text_or_none(value.get("trajectory_id")) or text_or_none(value.get("session_id"))


CONVERSION = run_converter(LABEL, runs_in, begins_trajectory)
