"""Asks if a folder of logs is opened as one document or as a table of runs."""

from __future__ import annotations

import asyncio
from pathlib import Path

from inspector.base.targets import FOLDER_VIEWS, FolderView
from inspector.engine.log_files import MOST_FILES
from inspector.survey.folder_runs import FolderKind, log_folder_at
from inspector.ui.dialogs.message_dialog import CANCEL
from inspector.ui.dialogs.questions import Asking
from inspector.ui.services import SettingsOwner

_FOLDER_SETTINGS: dict[FolderKind, str] = {
    "sessions": "session_folders", "evaluations": "evaluation_folders", "logs": "log_folders",
}  # fmt: skip
"""Field of `settings.model.Start` with the choice for a kind of folders."""
_FOLDER_WORDS: dict[FolderKind, str] = {
    "sessions": "folders of sessions", "evaluations": "folders of evaluations", "logs": "folders of other logs",
}  # fmt: skip


async def view_of_folder(path: Path, services: SettingsOwner, asking: Asking) -> FolderView | None:
    """Returns the form of a path as the settings or the user choose it; None if the user cancels.

    Files and folders with few logs are documents.
    """
    folder = await asyncio.to_thread(log_folder_at, path)
    if folder is None:
        return "document"
    start, field = services.settings.start, _FOLDER_SETTINGS[folder.kind]
    chosen = getattr(start, field)
    if chosen != "ask":
        return chosen
    most = f", the newest {MOST_FILES:,} at most, as each stays open" if folder.logs > MOST_FILES else ""
    answer = await asking.ask_question(
        f"Open {path.name} as one document?",
        f"It has {folder.logs:,} logs. One document merges them in time order{most}. "
        "A table lists them as runs, and opens each in a window of its own. "
        f"The choice is remembered for {_FOLDER_WORDS[folder.kind]}; Settings > General > Startup changes it.",
        ((CANCEL, "Cancel"), ("runs", "Table of runs"), ("document", "One document")),
    )
    if answer not in FOLDER_VIEWS:
        return None
    setattr(start, field, answer)
    services.save_settings()
    return answer
