"""Status bar: the source at the left and counts at the right, each as a flat button.

It gets all facts from its owner and knows no document (docs/design.md 14).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal, SignalInstance
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QStatusBar, QWidget

from inspector.engine.requests.gateways import SourceState
from inspector.present import formats
from inspector.present.wire_text import safe_line as one_line
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.status_button import Dot, StatusButton

if TYPE_CHECKING:
    from inspector.engine.requests.finding_rows import Severity

NOTHING_OPEN = "No capture open"
"""Text on the start page."""

SILENT = "Only watches. It sends the join and, if set in the connection, answers to tools/list."
"""Tooltip of "silent"."""

_STATES: dict[SourceState, tuple[Dot, str]] = {
    SourceState.CONNECTING: ("wait", "Connecting to"),
    SourceState.CONNECTED: ("on", "Connected to"),
    SourceState.RECONNECTING: ("wait", "Reconnecting to"),
    SourceState.CLOSED: ("off", "Disconnected from"),
    SourceState.FAILED: ("failed", "Not connected to"),
}
BEHIND_SHOWN = 5_000
"""Backlog from which it is shown, in messages; a few are always in transit."""

_MESSAGE_MS = 4_000
_MINUTE = 60
_MAX_NAME = 60
"""Characters of the name of a log."""
_RATE_SECONDS = 5


def _percent(words: str, share: float) -> str:
    return f"{words} {int(share * 100)} %"  # never 100 before the end


class StatusBar(QStatusBar):
    """The window's status bar.

    Signals:
        retry_clicked: retry a lost gateway now.
        counts_clicked, paused_clicked, palette_clicked: the message count, the pause mark, the key of the palette.
        gaps_clicked, unreadable_clicked, failed_clicked, problems_clicked: show the counted messages.
        cancel_clicked: stop reading and keep the messages.
        go_on_clicked: read the rest after all.
        waiting_clicked, spared_clicked: show open requests, and avoidable tokens.
    """

    retry_clicked = Signal()
    counts_clicked = Signal()
    gaps_clicked = Signal()
    unreadable_clicked = Signal()
    failed_clicked = Signal()
    palette_clicked = Signal()
    problems_clicked = Signal()
    paused_clicked = Signal()
    cancel_clicked = Signal()
    go_on_clicked = Signal()
    waiting_clicked = Signal()
    spared_clicked = Signal()

    def __init__(self, theme_controller: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._themes = theme_controller
        self._buttons: list[StatusButton] = []
        self._address: str | None = None
        self._log_facts: list[str] = []
        self._log_path = ""
        self._palette_key = ""
        self._seen: int | None = None
        self._last_minute: deque[float] = deque([0.0] * _MINUTE, maxlen=_MINUTE)
        self.setObjectName("statusBar")
        self.setAccessibleName("Status bar")
        self.setSizeGripEnabled(False)
        content = QWidget(self)
        content.setObjectName("statusContent")
        # Long texts must not widen the window.
        content.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._row = QHBoxLayout(content)
        self._row.setSpacing(2)
        self._source = self._add("statusSource", may_shrink=True)
        self._retry = self._add("statusRetry", self.retry_clicked)
        self._space = self._add("statusSpace", may_shrink=True)
        self._participant = self._add("statusParticipant", may_shrink=True)
        self._silent = self._add("statusSilent")
        self._watched = self._add("statusWatched")
        self._row.addStretch(1)
        self._message = self._add("statusMessage")
        self._progress = self._add("statusProgress")
        self._cancel = self._add("statusCancel", self.cancel_clicked)
        self._go_on = self._add("statusGoOn", self.go_on_clicked)
        self._counting = self._add("statusCounting")
        self._paused = self._add("statusPaused", self.paused_clicked)
        self._range = self._add("statusRange")
        self._selected = self._add("statusSelected")
        self._counts = self._add("statusCounts", self.counts_clicked)
        self._rate = self._add("statusRate")
        self._behind = self._add("statusBehind")
        self._lag = self._add("statusLag")
        self._waiting = self._add("statusWaiting", self.waiting_clicked)
        self._refused = self._add("statusRefused")
        self._gaps = self._add("statusGaps", self.gaps_clicked)
        self._spared = self._add("statusSpared", self.spared_clicked)
        self._unreadable = self._add("statusUnreadable", self.unreadable_clicked)
        self._failed = self._add("statusFailed", self.failed_clicked)
        self._problems = self._add("statusProblems", self.problems_clicked)
        self._palette = self._add("statusPalette", self.palette_clicked)
        self._message_timer = QTimer(self)
        self._message_timer.setObjectName("statusMessageTimer")
        self._message_timer.setSingleShot(True)
        self._message_timer.setInterval(_MESSAGE_MS)
        self._message_timer.timeout.connect(self._message.hide)
        self.addWidget(content, 1)
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self.show_empty()

    def _add(self, name: str, clicked: SignalInstance | None = None, *, may_shrink: bool = False) -> StatusButton:
        """Adds a button; without a signal it is a fact with a tooltip and takes no focus."""
        button = StatusButton(self._themes, name=name, may_shrink=may_shrink, parent=self)
        if clicked is None:
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        else:
            button.clicked.connect(clicked)
        self._row.addWidget(button)
        self._buttons.append(button)
        return button

    # Left

    def show_empty(self) -> None:
        """Shows the start page's text and the key of the command palette."""
        self._reset()
        self._source.show_fact(NOTHING_OPEN, token="ink.tertiary")
        self._show_palette()

    def show_palette_key(self, key: str) -> None:
        """Sets the key of the command palette, or ""."""
        self._palette_key = key
        if not self._palette.isHidden():
            self._show_palette()

    def _show_palette(self) -> None:
        tooltip = "Find a command by name"
        self._palette.show_fact(self._palette_key, quiet="Command palette", token="ink.tertiary", tooltip=tooltip)

    def show_opening(self, name: str) -> None:
        self._reset()
        self._source.show_fact(one_line(name), quiet="opening")

    def show_log(
        self,
        name: str,
        format_name: str,
        with_decisions: bool = False,
        *,
        size_bytes: int | None = None,
        path: str = "",
    ) -> None:
        """Shows an open file.

        Args:
            name: its name.
            format_name: its format, such as "gateway log".
            with_decisions: True if a capability-decisions log beside it was read too.
            size_bytes: its size, if known.
            path: shown in the tooltip.
        """
        self._reset()
        self._log_path = path or name
        self.name_log(name)
        self._log_facts = [format_name, "with decisions" if with_decisions else ""]
        self.set_log_size(size_bytes)

    def name_log(self, name: str) -> None:
        """Replaces the name of the open log, e.g. by its session's title; the tooltip keeps its path."""
        self._source.show_fact(one_line(name, _MAX_NAME), icon=("recording", "ink.tertiary"), tooltip=self._log_path)

    def set_log_size(self, size_bytes: int | None) -> None:
        """Updates the size of the log, if known."""
        size = "" if size_bytes is None else formats.size(size_bytes).replace(".0 ", " ")
        words = ", ".join(fact for fact in (*self._log_facts, size) if fact)
        if words:
            self._space.show_fact("", quiet=words, tooltip="Format and size of the log")

    def show_live(self, address: str, space: str, participant: str, *, may_send: bool = False) -> None:
        """Shows a watched gateway; `set_state` updates its state.

        Args:
            address: without secrets.
            space: the space joined.
            participant: our own id there.
            may_send: True if this connection may send.
        """
        self._reset()
        self._address = address
        self.set_state(SourceState.CONNECTING)
        self._space.show_fact(one_line(space), quiet="space", tooltip="Watched space")
        self.set_participant(participant)
        if may_send:
            self._silent.show_fact(
                "may send", token="accent.text", icon=("sent", "accent.text"), tooltip="May send messages"
            )
        else:
            self._silent.show_fact("silent", icon=("silent", "ink.secondary"), tooltip=SILENT)

    def set_watched(
        self, rotations: int | None, *, missing: bool = False, ended: str = "", badly: bool = False
    ) -> None:
        """Shows that the file of a log is watched.

        Args:
            rotations: number of rotations so far; None if it is not watched.
            missing: no file of this name exists now.
            ended: for a tap's file, how its server ended.
            badly: the server crashed.
        """
        if ended:
            words = one_line(ended).rstrip(".")
            tooltip = f"{words[:1].upper()}{words[1:]}. New lines in the file are still shown."
            whose = "tapped server" if "server" in ended else "tap"
            self._watched.show_fact(f"the {whose} has ended", token="severity.warning" if badly else "ink.secondary",
                              tooltip=tooltip)  # fmt: skip
            return
        if rotations is None:
            self._watched.hide()
            return
        if missing:
            tooltip = "It was renamed or deleted. New lines are still shown, also from a new file of this name."
            self._watched.show_fact("file gone, waiting for a new one", token="severity.warning", tooltip=tooltip)
            return
        tooltip = "New lines are shown as they are written, also after a rotation"
        if rotations:
            tooltip += f"; rotated {formats.count_of(rotations, 'time')} so far"
        self._watched.show_fact("watching the file", tooltip=tooltip)

    def set_input_open(self, is_open: bool) -> None:
        """Shows that standard input or a pipe is still open."""
        self._watched.setVisible(is_open)
        if is_open:
            self._watched.show_fact("input open", tooltip="The input is still open; new rows are shown as they arrive")

    def set_participant(self, participant: str) -> None:
        self._participant.show_fact(
            one_line(participant), quiet="as", tooltip="Own participant id, new for each connection"
        )

    def set_retry(self, attempt: int, wait_s: float | None = None) -> None:
        """Shows attempts to reconnect.

        Args:
            attempt: number of the running or next attempt; 0 hides it.
            wait_s: seconds until the next attempt; None while one is running.
        """
        if attempt <= 0:
            self._retry.hide()
            return
        when = f" in {max(1, round(wait_s))} s" if wait_s is not None and wait_s >= 0.5 else ""
        self._retry.show_fact(f"attempt {attempt:,}{when}", token="severity.warning", tooltip="Connect now")

    def set_state(self, state: SourceState, sentence: str = "") -> None:
        """Shows the state of the connection; does nothing for a log."""
        if self._address is None:
            return
        dot, words = _STATES[state]
        tooltip = sentence or f"{words} {self._address}"
        # The dot alone stands for a good connection; any other state is also named.
        quiet = "" if state is SourceState.CONNECTED else words.lower()
        self._source.show_fact(one_line(self._address), quiet=quiet, dot=dot, tooltip=tooltip)
        self._source.setAccessibleDescription(words)
        if state in (SourceState.CLOSED, SourceState.FAILED):
            self._silent.hide()  # "silent" makes no sense without a connection

    # Right

    def set_counts(self, total: int, shown: int | None = None, unreadable: int | None = None) -> None:
        """Shows the counts of messages.

        Args:
            total: messages in the capture.
            shown: visible messages; None without a filter.
            unreadable: unreadable messages, hidden at 0; None changes nothing.
        """
        words = formats.count_of(total, "message")
        if shown is not None and shown != total:
            words += f", {shown:,} shown"
        self._counts.show_fact(words, tooltip="Messages in the capture, and in the table")
        if unreadable is not None:
            self._unreadable.setVisible(unreadable > 0)
            if unreadable:
                tooltip = "Show the messages that could not be read"
                self._unreadable.show_fact(f"{unreadable:,} unreadable", token="severity.error", tooltip=tooltip)

    def set_selected(self, count: int, size_bytes: int = 0, span_ns: int | None = None) -> None:
        """Shows the selection; hidden at 0.

        Args:
            count: selected messages.
            size_bytes: their total size.
            span_ns: time from the first to the last one, if known.
        """
        self._selected.setVisible(count > 0)
        if count:
            span = "" if span_ns is None else f", {formats.duration(span_ns)}"
            tooltip = "Messages selected, their size, and the time from the first to the last"
            self._selected.show_fact(f"{count:,} selected, {formats.size(size_bytes)}{span}", tooltip=tooltip)

    def set_range(self, sentence: str) -> None:
        """Shows a chosen time range; hidden for ""."""
        self._range.setVisible(bool(sentence))
        if sentence:
            tooltip = f"{sentence}. Escape or Back shows all times again"
            self._range.show_fact(sentence, token="accent.text", tooltip=tooltip)

    def show_message(self, words: str) -> None:
        """Shows a message about the last action for a few seconds."""
        self._message.show_fact(words, tooltip="Last action")
        self._message_timer.start()

    def set_failed(self, count: int) -> None:
        """Shows the number of messages that report a failure of the application, not of the protocol; hidden at 0."""
        self._failed.setVisible(count > 0)
        if count:
            tooltip = "Show messages that report a failure, such as a failed call"
            self._failed.show_fact(formats.count_of(count, "failure"), token="severity.error", tooltip=tooltip)

    def set_problems(self, number: int, worst: Severity | None = None, words: str = "") -> None:
        """Shows the number of messages with a problem.

        Args:
            number: messages with a warning or an error.
            worst: worst severity found, notes included; None without findings.
            words: counts of findings by severity, for the tooltip.
        """
        icon = None if worst is None else (worst.word, f"severity.{worst.word}")
        counted = formats.count_of(number, "problem") if number or worst is None else words
        token = "ink.primary" if number else "ink.tertiary"
        problems = f"{formats.count_of(number, 'message')} with a problem: {words}" if number else words
        tooltip = f"{problems or 'No problems found'}; show the findings"
        self._problems.show_fact(counted, token=token, icon=icon, tooltip=tooltip)

    def set_gaps(self, count: int) -> None:
        """Shows the number of gaps; hidden at 0."""
        self._gaps.setVisible(count > 0)
        if count:
            tooltip = "Messages may be missing where the connection was lost. Go to the next gap."
            self._gaps.show_fact(formats.count_of(count, "gap"), token="severity.warning", tooltip=tooltip)

    def set_behind(self, messages: int) -> None:
        """Shows the backlog of captured messages; hidden if it is small."""
        self._behind.setVisible(messages >= BEHIND_SHOWN)
        if messages >= BEHIND_SHOWN:
            tooltip = "Received and saved, but not shown yet"
            # The least width keeps the buttons beside it in place while the figure changes.
            self._behind.show_fact(
                f"{messages:,} behind", token="severity.warning", least="00,000 behind", tooltip=tooltip
            )

    def set_lag(self, lag_ns: int | None) -> None:
        """Shows the delay of a link that cannot keep up; None hides it."""
        self._lag.setVisible(lag_ns is not None)
        if lag_ns is not None:
            words = f"delay {formats.duration(lag_ns // 10**9 * 10**9).replace('.0 s', ' s')}"
            tooltip = "The connection is too slow: messages arrive this long after they were sent"
            self._lag.show_fact(words, token="severity.warning", least="delay 00 min 00 s", tooltip=tooltip)

    def set_waiting(self, count: int, words: str = "", sentence: str = "", *, hangs: bool = False) -> None:
        """Shows open requests of live traffic; hidden at 0.

        Args:
            count: number of waiting participants.
            words: the longest wait: participants and duration.
            sentence: the same with the request.
            hangs: the wait is long.
        """
        self._waiting.setVisible(count > 0)
        if count:
            more = f" and {count - 1:,} more" if count > 1 else ""
            token = "severity.warning" if hangs else "ink.secondary"
            tooltip = f"{sentence}. Show who waits for whom"
            self._waiting.show_fact(f"{words}{more}", token=token, tooltip=tooltip)

    def set_spared(self, words: str = "", sentence: str = "") -> None:
        """Shows the number of avoidable tokens; "" hides it.

        Args:
            words: short text.
            sentence: the certain share.
        """
        self._spared.setVisible(bool(words))
        if words:
            self._spared.show_fact(words, token="ink.secondary", tooltip=f"{sentence}, an estimate. Show the waste")

    def set_refused(self, messages: int) -> None:
        """Shows the number of dropped messages; hidden at 0."""
        self._refused.setVisible(messages > 0)
        if messages:
            tooltip = "There was no room for them on the disk or in memory"
            self._refused.show_fact(f"{messages:,} not kept", token="severity.error", tooltip=tooltip)

    def tick(self, total: int, live: bool) -> None:
        """Updates the message rate; called once a second.

        Args:
            total: messages in the capture now.
            live: True if more may come; else the rate is hidden.
        """
        came = max(0, total - self._seen) if self._seen is not None else 0
        self._seen = total
        self._last_minute.append(came)
        if live:
            recent = list(self._last_minute)[-_RATE_SECONDS:]
            self._show_rate(sum(recent) / len(recent))
        else:
            self._rate.hide()

    def _show_rate(self, per_second: float) -> None:
        words = f"{per_second:.1f}/s" if 0 < per_second < 10 else f"{per_second:,.0f}/s"
        values = tuple(self._last_minute)
        self._rate.show_fact(
            words, values=values, least="000/s", tooltip="Messages a second; the line is the last minute"
        )

    def set_paused(self, waiting: int | None) -> None:
        """Shows that the view is paused, with the number of waiting messages; None hides it."""
        if waiting is None:
            self._paused.hide()
            return
        self._paused.show_fact(
            f"view paused, {waiting:,} waiting",
            token="accent.text",
            icon=("pause", "accent.text"),
            tooltip="Recording continues; click to show new messages",
        )

    def set_counting(self, share: float | None) -> None:
        """Shows the progress of token counting; None hides it."""
        self._counting.setVisible(share is not None)
        if share is not None:
            tooltip = "Tokens are counted in the background"
            self._counting.show_fact("", quiet=_percent("counting tokens", share), tooltip=tooltip)

    def set_progress(self, fraction: float | None, messages: int | None = None) -> None:
        """Shows the progress of reading a log, with a button to stop.

        Args:
            fraction: 0 to 1; None if the total is unknown.
            messages: messages so far; None when reading has ended.
        """
        self._go_on.hide()
        if messages is None:
            self._progress.hide()
            self._cancel.hide()
            return
        so_far = formats.count_of(messages, "message")
        tooltip = f"The log is still being read: {so_far} so far"
        if fraction is None:
            self._progress.show_fact(f"reading, {so_far}", tooltip=tooltip)
        else:
            share = min(1.0, max(0.0, fraction))
            self._progress.show_fact(_percent("reading,", share), share=share, least="reading, 100 %", tooltip=tooltip)
        self._cancel.show_fact("Cancel", token="accent.text", tooltip="Stop reading and keep the messages (Esc)")

    def set_stopped(self, fraction: float | None, *, again: bool = False) -> None:
        """Shows that reading was stopped, with a button to read the rest.

        Args:
            fraction: progress, 0 to 1; None if the total is unknown.
            again: the rest cannot be read without starting over.
        """
        words = "Reading stopped" if fraction is None else _percent("Reading stopped at", fraction)
        tooltip = "The rest of the log is not shown, counted or searched"
        self._progress.show_fact(words, token="severity.warning", icon=("warning", "severity.warning"), tooltip=tooltip)
        self._cancel.hide()
        if again:
            self._go_on.show_fact("Open again", token="accent.text", tooltip="Open the whole log in this window")
        else:
            self._go_on.show_fact("Continue", token="accent.text", tooltip="Read the rest")

    def _reset(self) -> None:
        for button in self._buttons:
            button.hide()
        self._address = None
        self._seen = None
        self._last_minute = deque([0.0] * _MINUTE, maxlen=_MINUTE)

    # Appearance

    def words(self) -> list[str]:
        """Returns all visible texts, left to right."""
        return [button.accessibleName() for button in self._buttons if not button.isHidden()]

    def _on_theme_changed(self) -> None:
        metrics = self._themes.theme.metrics
        side = metrics.pane_padding - round(7 * self._themes.theme.zoom)
        self.setFixedHeight(metrics.status_bar)
        self._row.setContentsMargins(side, 0, side, 0)
        for button in self._buttons:
            button.updateGeometry()
            button.update()
