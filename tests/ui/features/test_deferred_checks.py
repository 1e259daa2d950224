"""A check that failed is said once."""

from __future__ import annotations

from inspector.ui.app.application import Application
from tests.builders import GrowingLog, envelope, received
from tests.ui.windows import ask_engine, panes_of, window_on


def test_a_check_that_failed_is_said_once(application: Application) -> None:
    log = GrowingLog()
    log.write(received(envelope()))
    window = window_on(application, log.document)
    ask_engine(window, lambda document: document.analysis.findings.failed.update(streams=1))
    log.write(received(envelope()))
    panes_of(window).bridge.flush()
    notice = window.notices.notice("checks-failed")
    assert notice is not None
    assert notice.text.startswith("The checks of streams ended at No. 1 ")
    assert notice.text.count("streams") == 1
    notice.closed.emit()
    log.write(received(envelope()))
    panes_of(window).bridge.flush()
    assert window.notices.notice("checks-failed") is None
