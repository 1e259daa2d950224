"""`diff --many` and `bisect` on made evaluations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.analysis.views.many_runs.run_chain import ChainStep, RunChain
from inspector.base import optional_dependencies
from inspector.present import run_chains
from inspector.present.run_bisection import one_each
from tests.commands import asked, printed

Call = tuple[str, dict[str, Any]]
LOOK: Call = "look", {"at": "oven"}
SELL: Call = "sell", {"n": 1}


def run(task: str, trial: int, calls: list[Call], *, passed: bool, results: dict[int, str] | None = None) -> Any:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "One rye, please."}]
    for number, (name, arguments) in enumerate(calls):
        call = {"id": f"c{number}", "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)}}  # fmt: skip
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        content = (results or {}).get(number, "done")
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "name": name, "content": content})
    messages.append({"role": "assistant", "content": f"Here, number {trial}."})
    return {"task_id": task, "trial": trial, "reward": float(passed), "info": {}, "traj": messages}


def evaluation(folder: Path, runs: list[Any], name: str = "results.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(runs), "utf-8")
    return path


@pytest.fixture
def bakery(tmp_path: Path) -> Path:
    """Twenty runs: those that look first pass; each thinks other words."""
    runs = [
        run("rye", n, [LOOK, SELL, ("think", {"thought": f"thought {n}"})] if n % 2 else [SELL], passed=bool(n % 2))
        for n in range(20)
    ]
    return evaluation(tmp_path, runs)


def test_the_tree_counts_runs_and_groups_and_folds_equal_chains(bakery: Path) -> None:
    (task,) = json.loads(printed("diff", "--many", bakery, "--format", "json"))["tasks"]
    assert (task["task"], task["runs"], task["groups"], task["ways"]) == ("rye", 20, {"passed": 10, "failed": 10}, 2)
    rows = [(row["depth"], row["count"], row["runs"], row["groups"], row["ended"]) for row in task["tree"]]
    assert rows == [
        (0, 0, 20, {"passed": 10, "failed": 10}, 0),
        (1, 1, 10, {"failed": 10}, 10),
        (1, 3, 10, {"passed": 10}, 10),
    ]
    assert task["tree"][2]["steps"][:2] == ["look at=oven", "sell n=1"]
    assert task["tree"][2]["representative"] == {"run": f"{bakery}/rye-1", "no": 3}
    assert "look at=oven" in printed("show", f"{bakery}/rye-1", 3)
    assert task["varying"] == [{"tool": "think", "argument": "thought", "values": 10, "runs": 10}]


def test_facts_have_counts_and_a_corrected_test(bakery: Path) -> None:
    pytest.importorskip("scipy")
    (task,) = json.loads(printed("diff", "--many", bakery, "--format", "json"))["tasks"]
    first = task["facts"][0]
    assert first["groups"] == {"passed": {"with": 10, "without": 0}, "failed": {"with": 0, "without": 10}}
    assert first["p"] == pytest.approx(2 / 184_756)
    assert first["corrected"] == pytest.approx(first["p"] * task["tests"])
    text = printed("diff", "--many", bakery)
    assert "part 10 passed and 10 failed. Fisher's exact test, two-sided; corrected by Holm's method" in text
    assert "look: 10 of 10 passed, 0 of 10 failed; p 1.1e-05" in text


def test_counts_are_shown_without_the_library(bakery: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optional_dependencies, "_is_installed", lambda name: name != "scipy")
    text = printed("diff", "--many", bakery)
    assert "Only counts: Their test needs the extra stats (scipy)." in text
    assert "look: 10 of 10 passed, 0 of 10 failed" in text
    assert "; p " not in text


def test_few_runs_allow_no_claim(tmp_path: Path) -> None:
    runs = [run("rye", n, [LOOK] if n else [SELL], passed=bool(n)) for n in range(4)]
    text = printed("diff", "--many", evaluation(tmp_path, runs))
    assert "Nothing can be told by 3 passed and 1 failed" in text
    assert "1 of 1 failed" not in text


def test_logs_without_outcomes_are_compared_without_a_claim(tmp_path: Path) -> None:
    runs = [run("rye", n, [LOOK], passed=False) | {"reward": None} for n in range(3)]
    text = printed("diff", "--many", evaluation(tmp_path, runs))
    assert "3 runs: 3 unknown. 1 different way" in text
    assert "The logs state no outcome of their runs" in text


def test_runs_are_grouped_by_a_field_or_a_filter(bakery: Path) -> None:
    by_filter = json.loads(printed("diff", "--many", bakery, "--by", 'tool == "think"', "--format", "json"))
    assert by_filter["tasks"][0]["groups"] == {"others": 10, "matching": 10}
    by_field = json.loads(printed("diff", "--many", bakery, "--by", "tool", "--format", "json"))
    assert by_field["tasks"][0]["groups"] == {"sell": 10, "look": 10}


def test_tasks_are_apart_unless_pooled(tmp_path: Path) -> None:
    runs = [run(task, n, [LOOK], passed=True) for task in ("a", "b", "c", "d") for n in range(2)]
    path = evaluation(tmp_path, runs)
    assert "Task b: 2 runs: 2 passed, 1 way\n" in printed("diff", "--many", path)
    (one,) = json.loads(printed("diff", "--many", path, "--task", "b", "--format", "json"))["tasks"]
    assert (one["task"], one["runs"]) == ("b", 2)
    (pooled,) = json.loads(printed("diff", "--many", path, "--pool", "--format", "json"))["tasks"]
    assert (pooled["task"], pooled["runs"]) == (None, 8)
    assert "The runs are of 4 tasks" in pooled["sentence"]
    refused = asked("diff", "--many", path, "--task", "e")
    assert (refused.exit_code, refused.stderr) == (2, "No run is of the task e; tasks: a, b, c, d.\n")


def test_calls_with_other_outcomes_and_odd_runs_are_named(tmp_path: Path) -> None:
    runs = [run("a", n, [LOOK], passed=True, results={0: f"{n % 2} loaves"}) for n in range(6)]
    runs.append(run("a", 6, [("bake", {"n": n}) for n in range(9)], passed=False))
    (task,) = json.loads(printed("diff", "--many", evaluation(tmp_path, runs), "--format", "json"))["tasks"]
    assert [(one["text"], one["runs"], one["results"]) for one in task["changing"]] == [("look at=oven", 6, 2)]
    assert [(one["run"].rpartition("/")[2], one["distance"], one["steps"]) for one in task["outliers"]] == [
        ("a-6", 1.0, 9)
    ]


def test_a_page_is_self_contained_and_escaped(tmp_path: Path) -> None:
    path = evaluation(tmp_path, [run("<b>", n, [("<script>", {"a": "<i>"})], passed=True) for n in range(2)])
    text = printed("diff", "--many", path, "--format", "html")
    assert "<script" not in text
    assert "<i>" not in text
    assert "&lt;script&gt; a=&lt;i&gt;" in text


def test_logs_that_cannot_be_read_are_named(bakery: Path, tmp_path: Path) -> None:
    (tmp_path / "other.jsonl").write_text("no log\n", "utf-8")
    found = json.loads(printed("diff", "--many", bakery, tmp_path / "other.jsonl", "--format", "json"))
    assert found["runs"] == 20
    assert [Path(one["path"]).name for one in found["failures"]] == ["other.jsonl"]
    refused = asked("diff", "--many", tmp_path / "other.jsonl")
    assert refused.exit_code == 2
    assert "other.jsonl" in refused.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["diff", "a.jsonl"], "Name two logs, or use --many."),
        (["diff", "a.jsonl", "b.jsonl", "--pool"], "--by, --task and --pool need --many."),
        (["diff", "--many", "a.jsonl", "--exit-code"], "--many cannot be combined with"),
        (["diff", "--many", "nowhere"], "There is nothing at nowhere."),
        (["diff", "--many", "nowhere", "--by", "tool =="], "tool =="),
        (["diff", "--many", "nowhere", "--ignore", "("], "--ignore"),
        (["bisect", "nowhere"], "Name the behaviour by --when or --step."),
    ],
)
def test_wrong_usage_is_refused(words: list[str], said: str) -> None:
    refused = asked(*words)
    assert refused.exit_code == 2
    assert said in refused.stderr


@pytest.mark.real
def test_workers_give_the_same_answer(bakery: Path, tmp_path: Path) -> None:
    other = evaluation(tmp_path, [run("rye", n, [SELL, LOOK], passed=False) for n in range(30, 33)], "more.json")
    words = ("diff", "--many", bakery, other, "--format", "json")
    assert json.loads(printed(*words, "--workers", "2")) == json.loads(printed(*words))


# bisect


def test_the_first_run_with_a_behaviour_is_found(tmp_path: Path) -> None:
    runs = [run("a", n, [LOOK, SELL] if n >= 2 else [LOOK], passed=True) for n in range(4)]
    path = evaluation(tmp_path, runs)
    found = json.loads(printed("bisect", path, "--when", 'tool == "sell"', "--format", "json"))
    assert (found["first"]["path"], found["first"]["no"]) == (f"{path}/a-2", 5)
    assert (found["before"]["path"], found["monotone"]) == (f"{path}/a-1", True)
    by_step = printed("bisect", path, "--step", "sell n=")
    assert by_step.startswith(f"sell n= first appears in {path}/a-2 (No. 5), not in {path}/a-1 before it.\n")


@pytest.mark.parametrize("typed", ["edit \N{MINUS SIGN}1", "edit -1"])
def test_a_hyphen_stands_for_the_minus_of_a_step(typed: str) -> None:
    step = ChainStep(0, 0, "edit", "edit \N{MINUS SIGN}1 +2", 4, 0, 0, [])
    (found,) = one_each([RunChain("a", None, None, [step])], typed)
    assert (found.having, found.row) == (1, 4)


def test_a_behaviour_that_comes_and_goes_is_told(tmp_path: Path) -> None:
    runs = [run("a", n, [SELL] if n in (1, 3) else [LOOK], passed=True) for n in range(4)]
    path = evaluation(tmp_path, runs)
    text = printed("bisect", path, "--step", "sell")
    assert f"It is not monotone: it is absent again in {path}/a-2." in text
    none = printed("bisect", path, "--when", 'tool == "bake"')
    assert none.startswith('tool == "bake" does not appear in 4 runs.')


def test_each_path_is_a_version_with_all_its_runs(tmp_path: Path) -> None:
    paths = [
        evaluation(
            tmp_path, [run("a", n, [SELL] if n < many else [LOOK], passed=True) for n in range(3)], f"{many}.json"
        )
        for many in (0, 2, 3)
    ]
    found = json.loads(printed("bisect", *paths, "--step", "sell", "--format", "json"))
    assert [(one["having"], one["runs"]) for one in found["versions"]] == [(0, 3), (2, 3), (3, 3)]
    assert (found["first"]["path"], found["monotone"]) == (str(paths[1]), False)
    assert "in 2 of 3 runs" in found["sentence"]


def test_an_answer_tells_what_was_not_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_chains, "MOST_STEPS", 2)
    short = evaluation(tmp_path, [run("rye", 0, [SELL], passed=True)], "1.json")
    long = evaluation(tmp_path, [run("rye", 0, [SELL, SELL, LOOK], passed=True)], "2.json")
    bad = tmp_path / "3.json"
    bad.write_bytes(b"\0\1")
    text = printed("bisect", short, long, "--step", "look")
    assert text.startswith("look does not appear in 2 runs. Only the first 5,000 steps of each run were searched.\n")
    text = printed("bisect", short, bad, long, "--step", "look", "--when", " ")
    assert "1 log could not be read and may have it." in text


def test_the_limit_of_compared_steps_is_told(bakery: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "only the first" not in printed("diff", "--many", bakery)
    monkeypatch.setattr(run_chains, "MOST_STEPS", 1)
    assert "runs, only the first" in printed("diff", "--many", bakery)


def test_secrets_in_names_of_runs_are_masked(tmp_path: Path) -> None:
    secret = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    path = evaluation(tmp_path, [run(secret, n, [LOOK], passed=bool(n)) for n in range(2)])
    for shape in ("text", "json", "html"):
        assert secret not in printed("diff", "--many", path, "--format", shape)
