"""Folders below the folder of a session, and the results in them."""

from __future__ import annotations

import re

from inspector.formats.moved_results import MovedResults

SUB_AGENTS = "subagents"
RESULTS = "tool-results"
"""Folder of results that were too long for the session's file."""

MOVED_RESULTS = MovedResults(
    folder=RESULTS,
    agents_folder=SUB_AGENTS,
    names_file=re.compile(
        r"(?:Full )?[Oo]utput (?:has been )?saved to:? [^\n]{0,4000}?[/\\]tool-results[/\\]([\w.-]{1,200})"
    ),
)
