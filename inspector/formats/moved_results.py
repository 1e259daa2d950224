"""Results that a program moves from a session's file to files of their own."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedResults:
    """Places of files with complete results.

    Attributes:
        folder: name of their folder below the session's folder.
        agents_folder: name of the folder of sub-agents there; their results lie in the session's folder too.
        names_file: matches the start of a result whose rest was moved; its first group is the name of the file.
    """

    folder: str
    agents_folder: str
    names_file: re.Pattern[str]
