"""The tap of a model's API between real SDKs and a stub; what it recorded read back."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from inspector.tap.http import model
from tests.bench.http_tap import tapping
from tests.conftest import MS
from tests.e2e.test_http_tap import lines, of, running
from tests.http_server import ROOT
from tests.model_api import SIGNATURE, ModelApiStub

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]

PROGRAM = (sys.executable, "-m", "inspector")
CLIENT = (sys.executable, "-m", "tests.model_client")
USAGE = {"input": 2948, "output": 388, "cache_read": 384, "cache_write": 1800}
"""What the stub reports to the client, in the arithmetic of Anthropic."""


@pytest.fixture
def stub() -> ModelApiStub:
    return ModelApiStub()


@pytest.fixture
def environment(stub: ModelApiStub, tmp_path: Path) -> Generator[dict[str, str]]:
    with running(*stub.routes()) as origin:
        home = str(tmp_path / "home")
        addresses = {"ANTHROPIC_BASE_URL": origin, "OPENAI_BASE_URL": f"{origin}/v1"}
        yield os.environ | addresses | {"CONTEXT_INSPECTOR_HOME": home}


def summary(capture: Path) -> dict[str, Any]:
    words = [*PROGRAM, "summary", str(capture), "--json"]
    return json.loads(subprocess.run(words, cwd=ROOT, capture_output=True, check=True).stdout)


def test_the_sdks_get_what_they_get_without_a_tap_and_all_of_it_is_written(
    stub: ModelApiStub, environment: dict[str, str], tmp_path: Path
) -> None:
    direct = subprocess.run(CLIENT, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    asked, stub.asked = stub.asked, []
    folder = tmp_path / "taps"
    words = [*PROGRAM, "tap", "--model", "-o", f"{folder}/", "--", *CLIENT]
    tapped = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert tapped.stdout == direct.stdout
    assert [(path, body) for path, _, body in stub.asked] == [(path, body) for path, _, body in asked]
    for (_, now, _), (_, before, _) in zip(stub.asked, asked, strict=True):
        own = ("Host", "Connection")
        assert {k: v for k, v in now.items() if k not in own} == {k: v for k, v in before.items() if k not in own}
    assert stub.left == 6, "the streams that their reader left, with and without a tap"
    (capture,) = folder.iterdir()
    assert str(capture) in tapped.stderr
    assert capture.stat().st_mode & 0o777 == 0o600
    for planted in (b"plantedSecret", SIGNATURE.encode()):
        assert planted not in capture.read_bytes()
    ends = Counter(line["how"] for line in of(capture, "http-end"))
    assert ends.total() == len(asked)
    assert set(ends) == {"complete", "client-closed"}, "the SDK of OpenAI hangs up when it has read [DONE]"
    told = summary(capture)
    assert told["unreadable"] == 0
    assert told["models"] == {"claude-test-1": 4, "slow": 3, "gpt-test-1": 8, "busy": 3, "error": 3}
    # Every call but those refused reports; of what is made again, the attempt that came to something.
    assert told["usage"] == USAGE


def test_the_client_keeps_its_terminal_and_its_exit_code(environment: dict[str, str], tmp_path: Path) -> None:
    main, terminal = pty.openpty()
    shown = (
        "import os,sys; print('a terminal' if os.isatty(0) and os.isatty(1) and os.isatty(2) else 'none'); sys.exit(7)"
    )
    words = [*PROGRAM, "tap", "--model", "-o", str(tmp_path / "a.ctxcap"), "--", sys.executable, "-c", shown]
    code = subprocess.run(
        words, cwd=ROOT, env=environment, stdin=terminal, stdout=terminal, stderr=terminal, check=False
    ).returncode
    os.close(terminal)
    assert code == 7
    said = os.read(main, 1 << 16).decode()
    os.close(main)
    assert said.startswith("a terminal\r\n"), "nothing is printed over it, before it ends"
    assert "There was no model call" in said


def test_the_client_is_told_of_each_api_and_silence_of_what_to_check(
    environment: dict[str, str], tmp_path: Path
) -> None:
    names = ["GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL", "CODE_ASSIST_ENDPOINT", "OPENROUTER_BASE_URL",
             "AZURE_OPENAI_ENDPOINT", "ANTHROPIC_BASE_URL"]  # fmt: skip
    shown = "import json, os, sys; print(json.dumps({n: os.environ.get(n) for n in sys.argv[1:]}))"
    words = [*PROGRAM, "tap", "--model", "-o", str(tmp_path / "a.ctxcap"), "--", sys.executable, "-c", shown, *names]
    named = {name: value for name, value in environment.items() if name not in names}
    asks = named | {"OPENROUTER_BASE_URL": "https://host.example/api/v1"}
    done = subprocess.run(words, cwd=ROOT, env=asks, capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    assert told.pop("AZURE_OPENAI_ENDPOINT") is None, "it has no address of its own"
    assert told.pop("OPENROUTER_BASE_URL").endswith("/api/v1")
    assert all(address.startswith("http://127.0.0.1:") for address in told.values())
    assert len(set(told.values())) == len(told)
    assert "Check the client's settings for another address" in done.stderr
    assert "GOOGLE_GEMINI_BASE_URL" in done.stderr


def test_a_client_that_asks_no_model_is_told_of_while_it_runs(
    environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(model, "_SILENCE_S", 100 * MS)
    monkeypatch.setenv("CONTEXT_INSPECTOR_HOME", environment["CONTEXT_INSPECTOR_HOME"])
    wait = f"import time; time.sleep({2_000 * MS})"
    arguments = model.ModelTapArguments(str(tmp_path / "a.ctxcap"), (sys.executable, "-c", wait))
    assert model.run_model_tap(arguments) == 0
    assert "No model call yet, after 0 seconds." in capfd.readouterr().err


def test_an_address_of_a_model_is_tapped(
    environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTEXT_INSPECTOR_HOME", str(tmp_path / "home"))
    capture = tmp_path / "a.ctxcap"
    with tapping(environment["OPENAI_BASE_URL"], capture, "--model") as (address, _):
        assert address.endswith("/v1")
        words, asks = [*CLIENT, "openai"], environment | {"OPENAI_BASE_URL": address}
        subprocess.run(words, cwd=ROOT, env=asks, capture_output=True, check=True)
    assert lines(capture)[0]["origin"]["model"] is True
    assert summary(capture)["models"] == {"gpt-test-1": 8, "busy": 2, "error": 2, "slow": 2}


def test_responses_over_a_websocket_are_calls_of_a_model(
    stub: ModelApiStub, environment: dict[str, str], tmp_path: Path
) -> None:
    client = [*CLIENT, "websocket"]
    direct = subprocess.run(client, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    asked, stub.asked = stub.asked, []
    capture = tmp_path / "a.ctxcap"
    words = [*PROGRAM, "tap", "--model", "-o", str(capture), "--", *client]
    tapped = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert tapped.stdout == direct.stdout == "The tide stands at 3.4 m.\nerror\n"
    assert [body for _, _, body in stub.asked] == [body for _, _, body in asked]
    assert b"plantedSecret" not in capture.read_bytes()
    told = summary(capture)
    assert told["unreadable"] == 0
    assert told["models"] == {"gpt-test-1": 2, "error": 1}
    assert told["tool_counts"] == {"tide": 1}
    assert (told["usage"]["input"], told["usage"]["output"]) == (160, 24)
    ends = {end["x"]: end["how"] for end in of(capture, "http-end")}
    calls = [line for line in of(capture, "http-request") if line["method"] == "POST"]
    assert [ends[call["x"]] for call in calls] == ["complete"] * 3
    assert not of(capture, "websocket-frame"), "each is part of a call"


def test_codex_signed_in_with_chatgpt_is_refused(environment: dict[str, str], tmp_path: Path) -> None:
    codex = tmp_path / "bin" / "codex"
    codex.parent.mkdir()
    codex.write_text(f"#!{sys.executable}\nimport os, sys\nprint(sys.argv[1:], os.environ['OPENAI_BASE_URL'])\n")
    codex.chmod(0o755)
    home = tmp_path / "codex"
    home.mkdir()
    (home / "auth.json").write_text(json.dumps({"OPENAI_API_KEY": None, "tokens": {"id_token": "x"}}))
    words = [*PROGRAM, "tap", "--model", "-o", str(tmp_path / "a.ctxcap"), "--", str(codex), "exec", "hello"]
    found = environment | {"CODEX_HOME": str(home)}
    refused = subprocess.run(words, cwd=ROOT, env=found, capture_output=True, text=True, check=False)
    assert (refused.returncode, "ChatGPT" in refused.stderr) == (2, True)
    (home / "auth.json").write_text(json.dumps({"OPENAI_API_KEY": "sk-x"}))
    done = subprocess.run(words, cwd=ROOT, env=found, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("['-c', 'openai_base_url=\"http://127.0.0.1:")
    assert done.stdout.partition("]")[0].endswith("'exec', 'hello'")
