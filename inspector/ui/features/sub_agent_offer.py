"""Offers the files of sub-agents of a session that was opened by its file alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from inspector.engine.log_files import members_of
from inspector.present import formats
from inspector.ui.document_client import DocumentClient
from inspector.ui.docview.window_content import Shown
from inspector.ui.widgets.notice import NoticeStack

_NOTICE = "subAgentsNotOpened"


async def offer_sub_agents(
    shown: Shown, client: DocumentClient, path: Path, notices: NoticeStack, open_session: Callable[[Path], object]
) -> None:
    """Offers the files of sub-agents if a session was opened by its file alone.

    Args:
        shown: the document of the window, which may be another one by then.
        client: the session.
        path: its file.
        notices: shows the offer.
        open_session: opens the session with its sub-agents.
    """
    members, _ = await asyncio.to_thread(members_of, path)
    opened = {path, *(source.path for source in client.state.sources)}  # a sub-agent's file may name itself
    others = {member.path for member in members} - opened
    if not others or shown.client is not client:
        return
    words = f"This session has sub-agents in {formats.count_of(len(others), 'file')} that are not open."

    def open_all() -> None:
        notices.dismiss(_NOTICE)
        open_session(path)

    notices.show_notice(_NOTICE, "note", words, [("Open all", open_all)], closable=True)
