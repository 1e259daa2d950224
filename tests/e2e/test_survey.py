"""Surveys by real worker processes: one that is killed, logs that break, an object store; the same answers always."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inspector.survey.dask_workers import WorkerLostError, local_workers, run_each
from inspector.survey.folder import SurveyFolder, query_rows
from inspector.survey.one_run import SurveyOptions
from inspector.survey.run_places import find_runs
from inspector.survey.run_survey import Progress, survey
from inspector.survey.schema import SURVEY_TABLES
from tests.bench.generate import write_envelopes
from tests.builders import envelope, lines_of, tool_call, tool_result

pytestmark = pytest.mark.real

_MEMORY = 1 << 30
_CALLS = 'kind == "mcp/request" && payload.method == "tools/call"'
_ROOT = Path(__file__).parents[1] / "data/recordings"


def write_logs(folder: Path, count: int, chats: int = 20) -> None:
    for number in range(count):
        calls = [tool_call("grep"), tool_call(f"tool_{number % 3}")]
        traffic = [one for call in calls for one in (call, tool_result(call))]
        log = folder / f"{number % 4}/run-{number:03d}.jsonl"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_bytes(lines_of(envelope(), *traffic, *(envelope() for _ in range(chats * (number % 10)))))


def tables(folder: Path) -> dict[str, list[tuple[Any, ...]]]:
    """All tables of a survey but for when and how long."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    for table in SURVEY_TABLES:
        names = [f'"{one.name}"' for one in table.columns if one.name not in ("surveyed", "seconds", "modified")]
        rows = query_rows(folder, f"SELECT {', '.join(names)} FROM {table.name}")
        found[table.name] = sorted(rows, key=repr)
    return found


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with local_workers(2, _MEMORY) as found:
        yield found


def test_a_worker_that_is_killed_half_way_costs_nothing_but_time(client: Any, tmp_path: Path) -> None:
    write_logs(tmp_path / "logs", 40)
    places, options = find_runs([str(tmp_path / "logs")]), SurveyOptions(tokens=False)
    calm = SurveyFolder(tmp_path / "calm")
    for _ in survey(places, calm, client, options):
        pass
    calm.finish()
    calm.close()
    hit = SurveyFolder(tmp_path / "hit")
    progress = Progress(0)
    for progress in survey(places, hit, client, options):
        if progress.done == 12:
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    hit.finish()
    hit.close()
    assert (progress.done, progress.failed) == (40, 0)
    assert tables(tmp_path / "hit") == tables(tmp_path / "calm")


def _die_on_some(item: int) -> int:
    if item % 5 == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    if item == 7:
        raise ValueError("odd")
    return item * item


def test_who_ends_its_worker_each_time_is_named_and_no_other(client: Any) -> None:
    found = dict(run_each(client, _die_on_some, range(10)))
    assert {item for item, outcome in found.items() if isinstance(outcome, WorkerLostError)} == {3, 8}
    assert isinstance(found[7], ValueError)
    assert [found[item] for item in (0, 1, 2, 4, 5, 6, 9)] == [0, 1, 4, 16, 25, 36, 81]


def run_survey(*words: str | Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "inspector", *map(str, words)]
    return subprocess.run(
        command, capture_output=True, text=True, env=os.environ | (env or {}), timeout=180, check=False
    )


def test_the_command_surveys_what_is_new_and_says_what_failed(tmp_path: Path) -> None:
    logs, out = tmp_path / "logs", tmp_path / "out"
    write_logs(logs, 6)
    (logs / "empty.jsonl").write_bytes(b"")
    (logs / "odd.json").write_bytes(b'{"odd": 1}\n' * 3)
    done = run_survey("survey", logs, _ROOT / "mew", "-o", out, "--workers", "2", "--no-tokens")
    assert done.returncode == 0, done.stderr
    assert "empty.jsonl: It is empty." in done.stdout
    assert "odd.json is no log that can be read" in done.stdout
    ((runs,),) = query_rows(out, "SELECT count(*) FROM runs")
    before = tables(out)
    again = run_survey("survey", logs, _ROOT / "mew", "-o", out, "--no-tokens")
    assert f"{runs + 2} runs, {runs + 2} of them unchanged." in again.stdout
    assert "worker" not in again.stderr, "none is started for nothing"
    assert tables(out) == before
    with (logs / "0/run-000.jsonl").open("ab") as file:
        file.write(lines_of(envelope()))
    more = run_survey("survey", logs, _ROOT / "mew", "-o", out, "--no-tokens")
    assert f"{runs + 1} of them unchanged" in more.stdout
    ((messages,),) = query_rows(out, "SELECT messages FROM runs WHERE path LIKE '%run-000.jsonl'")
    assert messages == 6


def test_a_cluster_is_checked_before_it_is_used(client: Any, tmp_path: Path) -> None:
    write_logs(tmp_path / "logs", 2)
    nobody = run_survey("survey", tmp_path / "logs", "-o", tmp_path / "out", "--scheduler", "tcp://127.0.0.1:9")
    assert nobody.returncode == 2
    assert "There is no scheduler at tcp://127.0.0.1:9" in nobody.stderr
    from distributed import LocalCluster as Cluster

    make: Any = Cluster  # its types know the asynchronous one alone
    with make(n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0") as cluster:
        address = cluster.scheduler_address
        done = run_survey("survey", tmp_path / "logs", "-o", tmp_path / "out", "--scheduler", address, "--no-tokens")
        assert done.returncode == 0, done.stderr
        assert len(tables(tmp_path / "out")["runs"]) == 2
    with make(n_workers=0, host="127.0.0.1", dashboard_address="127.0.0.1:0") as cluster:
        idle = run_survey("survey", tmp_path / "logs", "-o", tmp_path / "o", "--scheduler", cluster.scheduler_address)
        assert idle.returncode == 2
        assert "has no workers" in idle.stderr


def test_logs_of_an_object_store_give_the_rows_of_the_files(tmp_path: Path) -> None:
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        env = {
            "AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing", "AWS_DEFAULT_REGION": "us-east-1",
        }  # fmt: skip
        store = boto3.client("s3", endpoint_url=env["AWS_ENDPOINT_URL"], aws_access_key_id="testing",
                             aws_secret_access_key="testing", region_name="us-east-1")  # fmt: skip
        store.create_bucket(Bucket="runs")
        for path in sorted((_ROOT / "mew").rglob("*.jsonl")):
            store.upload_file(str(path), "runs", f"night/{path.relative_to(_ROOT)}")
        done = run_survey("survey", "s3://runs/night", "-o", tmp_path / "out", "--no-tokens", env=env)
        assert done.returncode == 0, done.stderr
        here = run_survey("survey", _ROOT / "mew/**/*.jsonl", "-o", tmp_path / "here", "--no-tokens")
        assert here.returncode == 0, here.stderr
        query = "SELECT split_part(path, 'mew/', 2), format, messages, findings, tool_calls FROM runs ORDER BY 1"
        found = list(query_rows(tmp_path / "out", query))
        assert len(found) >= 5
        assert set(found) <= set(query_rows(tmp_path / "here", query))
        again = run_survey("survey", "s3://runs/night", "-o", tmp_path / "out", "--no-tokens", env=env)
        assert f"{len(found)} of them unchanged" in again.stdout
        log, part = "mew/coding-agent/envelope-history.jsonl", tmp_path / "part.jsonl"
        cut = run_survey("slice", f"s3://runs/night/{log}", "-Y", _CALLS, "-o", part, "--with-related", env=env)
        assert cut.returncode == 0, cut.stderr
        run_survey("slice", _ROOT / log, "-Y", _CALLS, "-o", tmp_path / "here.jsonl", "--with-related")
        assert part.read_bytes() == (tmp_path / "here.jsonl").read_bytes()
        refused = run_survey("survey", "s3://nobody-has-it/x", "-o", tmp_path / "no", env=env)
        assert refused.returncode == 2
        assert "s3://nobody-has-it/x" in refused.stderr
    finally:
        server.stop()


def test_ctrl_c_keeps_what_is_done(tmp_path: Path) -> None:
    write_logs(tmp_path / "logs", 260)
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # whoever runs this may not hear
    words = f"survey {tmp_path / 'logs'} -o {tmp_path / 'out'} --workers 2"
    start = f"{heard}; import sys; sys.argv[1:] = {words.split()!r}; from inspector.__main__ import main; main()"
    command = [sys.executable, "-c", start]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "260 runs" in process.stderr.readline()
        parts = tmp_path / "out/.parts"
        while not any(parts.glob("*-runs.parquet")) and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "not surveyed. Run the same command to continue." in said
    ((runs,),) = query_rows(tmp_path / "out", "SELECT count(*) FROM runs")
    assert 0 < runs < 260
    done = run_survey("survey", tmp_path / "logs", "-o", tmp_path / "out")
    assert f"{runs} of them unchanged" in done.stdout
    assert json.dumps(len(tables(tmp_path / "out")["runs"])) == "260"


def test_a_slice_is_the_same_whoever_cuts_it_and_has_what_list_has(tmp_path: Path) -> None:
    log = tmp_path / "long.jsonl"
    write_envelopes(log, 60_000)  # more than one stretch
    filter_ = 'kind == "mcp/request" && payload.params.name == "grep" && from == "lead"'
    parts = [tmp_path / f"{workers}.jsonl" for workers in (1, 2)]
    for workers, part in enumerate(parts, 1):
        done = run_survey("slice", log, "-Y", filter_, "-o", part, "--workers", str(workers))
        assert done.returncode == 0, done.stderr
    assert parts[0].read_bytes() == parts[1].read_bytes()
    listed = run_survey("list", log, "-Y", filter_, "-e", "id,time,kind")
    assert run_survey("list", parts[0], "-e", "id,time,kind").stdout == listed.stdout
    numbers = run_survey("list", log, "-Y", filter_, "-e", "no", "--format", "csv").stdout.splitlines()[1:]
    assert run_survey("list", parts[0], "-e", "slice.line", "--format", "csv").stdout.splitlines()[1:] == numbers
