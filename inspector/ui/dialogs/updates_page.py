"""Settings > General > Updates: permission to request a release feed, and its address."""

from __future__ import annotations

from PySide6.QtWidgets import QLineEdit, QWidget

from inspector.engine.requests.releases import LONGEST_ADDRESS, is_feed_address
from inspector.settings import Settings, Updates
from inspector.ui.dialogs.settings_dialog import SettingsPage
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.form import CheckField, FieldColumn, Form

_HELP = (
    "Requests the release feed, at most once a day. The request has no version and no id. "
    "The start page and Help > About name a newer version."
)
_FEED_HELP = "Address of the latest release in the API of GitHub, Gitea or Forgejo."
_NO_ADDRESS = "Enter an address that begins with https://, without a user name."


class UpdatesPage(SettingsPage):
    """Edits the settings for updates. An invalid address shows an error, and the old one stays in force."""

    def __init__(self, theme_controller: ThemeController, settings: Settings, parent: QWidget | None = None) -> None:
        """Creates the page.

        Args:
            theme_controller: gives the look.
            settings: edited in place.
            parent: the owner.
        """
        super().__init__(settings, parent, name="settingsUpdates", title="Updates")
        form = Form(theme_controller, self)
        self._check = CheckField("Check for new versions", _HELP, name="updatesCheck", parent=self)
        self._check.toggled.connect(self._on_toggled)
        form.add_across(self._check)
        self._feed = QLineEdit(self)
        self._feed.setObjectName("updatesFeed")
        self._feed.setProperty("variant", "field")
        self._feed.setAccessibleName("Release feed")
        self._feed.setMaxLength(LONGEST_ADDRESS)
        self._feed.setPlaceholderText("https://")
        self._feed.editingFinished.connect(self._on_feed_edited)
        self._feed_column = FieldColumn(self._feed, name="updatesFeedField", help_text=_FEED_HELP, parent=self)
        form.add_field("Release feed", self._feed_column, self._feed)
        self._column.addLayout(form)
        self._column.addStretch(1)
        self._show()

    def restore(self) -> None:
        """Restores the defaults without a signal."""
        self._settings.updates = Updates()
        self._show()

    def _show(self) -> None:
        updates = self._settings.updates
        self._check.set_checked(updates.check)
        self._feed.setText(updates.feed)
        self._feed.setEnabled(updates.check)
        self._feed_column.say_trouble("")

    def _on_toggled(self, on: bool) -> None:
        self._feed.setEnabled(on)
        self._change(check=on)

    def _on_feed_edited(self) -> None:
        feed = self._feed.text().strip()
        wrong = bool(feed) and not is_feed_address(feed)
        self._feed_column.say_trouble(_NO_ADDRESS if wrong else "")
        if not wrong and feed != self._settings.updates.feed:
            self._change(feed=feed)

    def _change(self, **values: object) -> None:
        self._settings.updates = self._settings.updates.model_copy(update=values)
        self.changed.emit()
