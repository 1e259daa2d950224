"""Surveys and slices by worker processes, against the same core in one; prints one JSON object.

*Overhead* is processor time: of a survey with one worker, from the first run to the last, over that of the same work in
this process. *Scaling* is by the clock, and says little on a machine where others work. Memory is the most that any
worker held. A slice is compared with reading headers alone. Run as `python -m tests.bench.fleet [LOGS] [MESSAGES]`.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from inspector.survey.byte_ranges import ranges_of
from inspector.survey.dask_workers import local_workers, run_each
from inspector.survey.folder import SurveyFolder
from inspector.survey.one_run import SurveyOptions, survey_run
from inspector.survey.run_places import find_runs
from inspector.survey.run_survey import survey
from inspector.survey.slicing import find_lines, run_here
from tests.bench.generate import write_envelopes
from tests.bench.reading import read_ours

_MEMORY = 2 << 30
_FILTER = 'kind == "mcp/request" && payload.params.name == "grep"'


def _usage() -> tuple[float, float]:
    """Seconds of processor time and MB at most of a worker so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1_000


def surveyed(folder: Path, workers: int, options: SurveyOptions) -> dict[str, float]:
    """Survey logs by so many workers."""
    places = find_runs([str(folder)])
    with tempfile.TemporaryDirectory() as out, local_workers(workers, _MEMORY) as client:
        client.run(_usage)  # they have started
        list(run_each(client, _warm, range(2 * workers)))
        before = client.run(_usage)
        survey_folder = SurveyFolder(Path(out))
        began, own = time.perf_counter(), time.process_time()
        for _ in survey(places, survey_folder, client, options):
            pass
        seconds, own = time.perf_counter() - began, time.process_time() - own
        survey_folder.finish()
        survey_folder.close()
        after = client.run(_usage)
    worked = sum(after[worker][0] - before[worker][0] for worker in after)
    return {"seconds": seconds, "cpu_s": worked + own, "own_s": own, "memory_mb": max(one[1] for one in after.values())}


def _warm(_item: int) -> int:
    importlib.import_module("inspector.survey.run_survey")  # which the first run would wait for
    return os.getpid()


def plain(folder: Path, options: SurveyOptions) -> float:
    """Processor time of the same work in this process."""
    places = find_runs([str(folder)])
    began = time.process_time()
    for place in places:
        survey_run(place, options)
    return time.process_time() - began


def sliced(path: Path) -> tuple[float, float]:
    """Processor time of cutting a slice out of a log in this process, and of reading its headers."""
    began = time.process_time()
    for _ in find_lines(ranges_of(str(path), path.stat().st_size), _FILTER, run_here, len):
        pass
    slicing = time.process_time() - began
    began, below = time.process_time(), os.times()
    read_ours(path)
    after = os.times()
    children = after.children_user + after.children_system - below.children_user - below.children_system
    return slicing, time.process_time() - began + children


def measure(logs: int, messages: int) -> dict[str, Any]:
    """All figures of so many logs of so many messages."""
    with tempfile.TemporaryDirectory() as here_:
        folder = Path(here_) / "logs"
        folder.mkdir()
        write_envelopes(folder / "0.jsonl", messages)
        for number in range(1, logs):
            (folder / f"{number}.jsonl").write_bytes((folder / "0.jsonl").read_bytes())
        options = SurveyOptions(tokens=False)
        alone = plain(folder, options)
        one, two = surveyed(folder, 1, options), surveyed(folder, 2, options)
        log = Path(here_) / "long.jsonl"
        write_envelopes(log, 100_000)
        slicing, reading = sliced(log)
        return {
            "messages": logs * messages, "plain_cpu_s": alone, "one": one, "two": two,
            "overhead": one["cpu_s"] / alone, "scaling": one["seconds"] / two["seconds"],
            "memory_mb": max(one["memory_mb"], two["memory_mb"]), "slice_share": reading / slicing,
            "slice_mb_s": log.stat().st_size / 1e6 / slicing,
        }  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(measure(*(int(word) for word in (sys.argv[1:] + ["1000", "1000"][len(sys.argv[1:]) :])))))
