"""What every test gets: user folders of its own, no real log warnings, a scaled unit of time."""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import signal
from collections.abc import Generator, Iterator
from itertools import count, cycle
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.internal.conjecture import providers

from inspector.base import paths
from inspector.formats import registry
from tests import builders

# Before any test imports Qt: tests never open a window on somebody's desktop. The real-window test starts a process
# of its own under a virtual display.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# Sizes are those of an ordinary screen, however the shell of whoever runs the tests has Qt show things.
for _scaling in ("QT_SCALE_FACTOR", "QT_SCREEN_SCALE_FACTORS", "QT_FONT_DPI", "QT_STYLE_OVERRIDE"):
    os.environ.pop(_scaling, None)

# No test asks the keyring of whoever runs it; tests of tokens bring their own, `tests.keyrings`.
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"

# Qt complains on standard error of a locale that is not UTF-8, also in what the tests start.
if os.environ.get("LC_ALL") in ("C", "POSIX"):
    os.environ["LC_ALL"] = "C.UTF-8"

# What Typer takes for a wish for colours, which would stand among the words of its help.
for _name in ("GITHUB_ACTIONS", "FORCE_COLOR", "PY_COLORS"):
    os.environ.pop(_name, None)

# Whoever runs the tests may have signals passed over, as `nohup` and `&` do; what the tests start would inherit that.
for _number in (signal.SIGINT, getattr(signal, "SIGHUP", None)):
    if _number is not None and signal.getsignal(_number) is signal.SIG_IGN:
        with contextlib.suppress(ValueError):  # not in the main thread
            signal.signal(_number, signal.default_int_handler if _number == signal.SIGINT else signal.SIG_DFL)

# `make test` tries a few examples, `make test-real` more, always the same; `make fuzz` tries new ones. How
# long one takes says nothing, machines are busy. A slow property takes a share of them,
# `tests.strategies.share_of_examples`.
settings.register_profile(
    "default", deadline=None, max_examples=5, derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
settings.register_profile("landing", settings.get_profile("default"), max_examples=15)
# A failure of `make fuzz` is repeated by its seed alone: it is looked for without a database, and shrunk when repeated.
settings.register_profile(
    "fuzz-shrink", settings.get_profile("default"), max_examples=30, derandomize=False, database=None
)
settings.register_profile("fuzz", settings.get_profile("fuzz-shrink"), phases=(Phase.explicit, Phase.generate))
settings.load_profile("default")

MS = 0.001 * float(os.environ.get("TESTS_TIME_SCALE", "1"))
"""A millisecond in seconds; slow machines set TESTS_TIME_SCALE to stretch every timeout."""


_ALLOCATED = 50_000
"""So many objects more than were freed are looked through for garbage, before the next test."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Draws no constants of the program's modules for the few examples of `make test`.

    Hypothesis parses every module for them, in each process: seconds for one draw in twenty. `make test-real` and
    `make fuzz` draw them. Without them, examples stay the same when another module changes.
    """
    if session.config.getoption("--hypothesis-profile", None) in (None, "default"):
        none_yet = vars(providers)["_local_constants"]
        providers._get_local_constants = lambda: none_yet  # pyright: ignore[reportPrivateUsage]


def pytest_collection_finish() -> None:
    """Look for garbage between tests alone, and never among ten thousand tests and all modules, which stay.

    Where Python does so by itself, whatever thread has just made an object deletes timers and loops of Qt that tests
    before have left, which ends in a crash. A window sets apart what lives when it opens, and takes all of it back when
    it closes: with them it would take back the ten thousand tests, and looking through those takes a second.
    """
    gc.freeze()
    for name in ("freeze", "unfreeze"):
        setattr(gc, name, lambda: None)
    gc.set_threshold(0)


@pytest.fixture(scope="session")
def generations() -> Iterator[int]:
    """Numbers of generations to collect: the oldest each tenth time, as Python does it."""
    return cycle((1,) * 9 + (2,))


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folders that nobody had yet. The factory looks through all it has made each time it makes another."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in count())


@pytest.fixture(scope="session", autouse=True)
def no_lasting_files_left() -> Iterator[None]:
    """What several tests asked of is closed and removed after all of them."""
    yield
    builders.close_lasting()


# One fixture for each test instead of seven: pytest takes 0.1 ms for each, of 14,000 tests.
@pytest.fixture(autouse=True)
def own_home(request: pytest.FixtureRequest, homes: Iterator[Path], generations: Iterator[int]) -> Iterator[Path]:
    """A folder for settings, captures, caches and logs of a test, which most never make; cleans up after the test.

    Each step is taken whether or not the one before it failed.
    """
    home, formats = next(homes), registry.recipes()
    os.environ[paths.HOME_VARIABLE] = str(home)
    with contextlib.ExitStack() as steps:  # the last is taken first
        steps.callback(_collect_garbage, generations)
        steps.callback(os.environ.pop, paths.HOME_VARIABLE, None)
        steps.callback(_end_recorders, home)
        steps.callback(builders.clean_up)
        steps.callback(registry.restore, formats)
        if "caplog" not in request.fixturenames and request.node.get_closest_marker("logs_warnings") is None:
            steps.enter_context(_no_log_warnings())
        yield home


@pytest.fixture
def user_folders(own_home: Path) -> Path:
    """That folder, made."""
    own_home.mkdir()
    return own_home


@pytest.fixture
def no_plugins_left() -> Iterator[None]:
    """Plug-ins of a test are unloaded after it."""
    from inspector.formats import guards
    from inspector.plugins import loading

    yield
    loading.load(())
    guards.renew()


def _collect_garbage(generations: Iterator[int]) -> None:
    """Collects garbage of tests in the thread that made it, once there is enough of it."""
    if gc.get_count()[0] > _ALLOCATED:
        gc.collect(next(generations))


def _end_recorders(home: Path) -> None:
    """Ends recorders: one goes on without its engine, and none outlives its test."""
    try:
        files = os.scandir(home / "data" / "recorders")
    except OSError:
        return
    with files:
        for file in files:
            with contextlib.suppress(OSError):  # it has ended meanwhile
                if b"recorder" in Path(f"/proc/{file.name}/cmdline").read_bytes():
                    os.kill(int(file.name), signal.SIGKILL)


@contextlib.contextmanager
def _no_log_warnings() -> Generator[None]:
    """Fails a test with log records of level WARNING or above that it does not announce.

    It does so by asking for `caplog` or with the marker `logs_warnings`.
    """
    collector = _WarningCollector()
    root = logging.getLogger()
    root.addHandler(collector)
    try:
        yield
    finally:
        root.removeHandler(collector)
    if collector.seen:
        pytest.fail("unannounced log warnings:\n" + "\n".join(collector.seen), pytrace=False)


class _WarningCollector(logging.Handler):
    def __init__(self) -> None:
        super().__init__(level=logging.WARNING)
        self.seen: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.seen.append(f"{record.levelname} {record.name}: {record.getMessage()}")
