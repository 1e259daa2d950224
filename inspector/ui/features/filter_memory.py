"""Earlier filters, kept in the settings for all windows and for the next start; never those that hold a secret."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.filters import FilterError, compile_filter
from inspector.protocol.secrets.masking import is_secret_key, mask_text

if TYPE_CHECKING:
    from inspector.ui.app.application import Application


def remember(application: Application, text: str) -> None:
    """Keep a filter that was applied."""
    if may_be_kept(text) and application.settings.remember_filter(text):
        _tell(application)


def forget(application: Application) -> None:
    """Keep none of the earlier filters."""
    application.settings.filter_history = []
    _tell(application)


def may_be_kept(text: str) -> bool:
    """Whether a filter can lie open on disk: it holds no token, and compares nothing that is called one."""
    try:
        fields = compile_filter(text, selected_context="context").fields
    except FilterError:
        return False
    named = any(is_secret_key(part.strip('"')) for name in fields for part in name.split("."))
    return mask_text(text) == text and not named


def _tell(application: Application) -> None:
    application.save_settings()
    for window in application.windows:
        window.filter_bar.set_history(application.settings.filter_history)
