"""What the settings may say on disk, keys in the file that cannot be used, and a disk that takes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from inspector.base import atomic_files
from inspector.present import secret_settings
from inspector.settings import (
    ConnectionSettings,
    HighlightRule,
    NamedConnection,
    Preset,
    Settings,
    settings_path,
)
from inspector.settings.sharing import read_shared
from inspector.ui.app import application as application_module
from inspector.ui.app.application import Application
from inspector.ui.dialogs.key_validation import drop_unusable_keys
from inspector.ui.dialogs.presets_page import PresetsPage
from inspector.ui.dialogs.share_buttons import ShareButtons
from inspector.ui.input.action import keyed_actions
from inspector.ui.widgets.labels import TextLabel
from inspector.ui.window.actions import ACTIONS
from inspector.ui.window.main_window import MainWindow
from tests.ui.find import child
from tests.ui.windows import application_of, story, window_on

KEY = "ghp_" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zBc7e"


@pytest.fixture
def application(qapp: QApplication) -> Iterator[Application]:
    application = Application(qapp, theme="light", bundled_fonts=True)
    yield application
    for window in list(application.windows):
        window.close()
    application.theme.dispose()


def said(window: MainWindow, name: str = "message") -> str:
    notice = window.notices.notice(name)
    return notice.text if notice is not None else ""


def test_a_preset_with_a_secret_is_kept_and_never_written(window: MainWindow) -> None:
    window.presets.save(f'text contains "{KEY}"')
    assert any(KEY in preset.filter for preset in window.application.settings.presets)
    assert KEY not in settings_path().read_text()
    assert "holds a secret: it is kept until the program ends and written to no file." in said(window)
    assert KEY not in said(window)
    window.presets.save("kind == chat")
    assert "kind == chat" in settings_path().read_text()


def test_nothing_with_a_secret_is_written() -> None:
    settings = Settings(
        presets=[Preset(name=KEY, filter=""), Preset(name="a", filter='payload.token == "hunter2"'),
                 Preset(name="Has one", filter="payload.token")],
        highlights=[HighlightRule(name="b", filter=f'text contains "{KEY}"')],
        connections=[NamedConnection(name="c", url=f"ws://h/{KEY}"), NamedConnection(name="d", url="ws://h")],
        recent_connections=[ConnectionSettings(url="ws://h", participant=f"Bearer {KEY}")],
        filter_history=[KEY, "tool"], recent_files=[f"/x/{KEY}.jsonl", "/y"],
    )  # fmt: skip
    written, left_out = secret_settings.without_secrets(settings)
    text = written.model_dump_json()
    assert KEY not in text
    assert "hunter2" not in text
    assert [preset.name for preset in written.presets] == ["Has one"]
    assert (written.filter_history, written.recent_files) == (["tool"], ["/y"])
    assert [one.name for one in written.connections] == ["d"]
    assert len(left_out) == 4
    assert len(settings.presets) == 3


def test_a_shared_file_has_none_and_says_so(qtbot: QtBot, tmp_path: Path) -> None:
    shared = secret_settings.SharedPresets([Preset(name="a", filter="tool"), Preset(name="b", filter=f'"{KEY}"')], [])
    buttons = ShareButtons("presets", "presets", lambda: shared, lambda _shared, _name: "")
    qtbot.addWidget(buttons)
    qtbot.addWidget(buttons.status)
    buttons.write(tmp_path / "x.json")
    assert KEY not in (tmp_path / "x.json").read_text()
    assert [preset.name for preset in read_shared(tmp_path / "x.json").presets] == ["a"]
    assert buttons.status.text().endswith("1 with a secret was left out.")


def test_the_page_of_presets_says_so_while_it_is_typed(application: Application, window: MainWindow) -> None:
    window.application.settings.presets.insert(0, Preset(name="a", filter="tool"))
    page = PresetsPage(application.theme, window.application.settings.presets, window)
    field = child(page, QLineEdit, "presetsFilter")
    field.selectAll()
    QTest.keyClicks(field, f'text contains "{KEY}"')
    assert child(page, TextLabel, "presetsFilterHelp").text() == secret_settings.NOT_WRITTEN


@pytest.mark.parametrize(
    ("keys", "left", "words"),
    [
        ({"edit.mark": ["Ctrl+J"], "edit.comment": ["Ctrl+J"]}, {"edit.mark": ["Ctrl+J"]}, "is the key of"),
        ({"edit.mark": ["Ctrl+C"]}, {}, "is reserved for text fields"),
        ({"edit.mark": ["J", "Ctrl+J"]}, {"edit.mark": ["Ctrl+J"]}, "types text into fields"),
        ({"edit.mark": ["<b>no</b>\n"]}, {}, "is not a valid key"),
        ({"edit.mark": ["Ctrl+M"]}, {"edit.mark": ["Ctrl+M"]}, ""),
        ({"edit.mark": [], "later.thing": ["Q"]}, {"edit.mark": [], "later.thing": ["Q"]}, ""),
    ],
    ids=["twice", "taken", "letter", "none", "usual", "kept"],
)
def test_keys_in_the_file_are_checked_as_the_page_does(
    qapp: QApplication, keys: dict[str, list[str]], left: dict[str, list[str]], words: str
) -> None:
    settings_path().write_text(json.dumps({"keys": keys}))
    application = Application(qapp, theme="light")
    try:
        assert application.settings.keys == left
        assert words in application.notice
        assert bool(application.notice) is bool(words)
    finally:
        application.theme.dispose()


def test_keys_of_presets_are_checked() -> None:
    settings = Settings(
        presets=[Preset(name="a", filter="", key="Ctrl+Alt+J"), Preset(name="b", filter="", key="Ctrl+Alt+J"),
                 Preset(name="c", filter="", key="Ctrl+Z"), Preset(name="d", filter="", key="\0")]
    )  # fmt: skip
    assert len(drop_unusable_keys(settings, keyed_actions(ACTIONS))) == 3
    assert [preset.key for preset in settings.presets] == ["Ctrl+Alt+J", None, None, None]


@pytest.fixture
def quick_retry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(application_module, "RETRY_MS", 20)


@pytest.mark.usefixtures("quick_retry")
def test_settings_that_cannot_be_written_are_said_and_tried_again(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    application = application_of(window)

    def refuse(*_args: object, **_kept: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(atomic_files.tempfile, "mkstemp", refuse)
        window.presets.save("kind == chat")
        assert "No space left on device" in said(window, "settings-not-saved")
        window.undo_history.undo()
        assert all(preset.filter != "kind == chat" for preset in application.settings.presets)
        window.undo_history.redo()
    qtbot.waitUntil(lambda: said(window, "settings-not-saved") == "")
    assert "kind == chat" in settings_path().read_text()
    settings_path().unlink()
    qtbot.wait(3 * application_module.RETRY_MS)
    assert not settings_path().exists(), "it is not tried any more"


def test_names_of_a_file_edited_by_hand_are_shown_plain(qapp: QApplication, qtbot: QtBot) -> None:
    bad = "<b>x</b>\u202e\n&y"
    settings_path().write_text(
        json.dumps({"presets": [{"name": bad, "filter": "tool"}], "highlights": [{"name": bad, "filter": "(("}],
                    "keys": {bad: [bad]}, "filter_history": [bad], "recent_files": [bad, "\0"]})
    )  # fmt: skip
    application = Application(qapp, theme="light", bundled_fonts=True)
    window = window_on(application, story())
    try:
        assert "\u202e" not in window.presets.actions[0].text()
        assert "\n" not in window.presets.actions[0].text()
        application.save_settings()
    finally:
        window.close()
        application.theme.dispose()


@pytest.mark.parametrize(
    "text",
    ["text contains \"password='hunter2'\"", f'text contains "\\u201c{KEY}"', 'text contains "API_KEY=abcdef0"',
     'text matches "ghp_16C7e42F292c[A-Z0-9a-z]+"', 'text contains "X-API-Key: abcdef0123"', 'payload.pwd == "x"',
     'payload.token.value == "abcdef"', 'payload.token_1 == "abcdef"'],
)  # fmt: skip
def test_no_filter_with_a_secret_is_written(text: str) -> None:
    assert not secret_settings.may_be_written(Preset(name="mine", filter=text))
    assert secret_settings.may_be_written(
        Preset(name="mine", filter='text contains "token=int" && payload.page_token == "3"')
    )
