"""Who may read a file the user has named: whoever the user's own umask lets, as of any program's files.

What is the program's own (captures, settings, marks, logs) is the user's alone, and none of this module's business.
"""

from __future__ import annotations

import os
from pathlib import Path

_PRIVATE = 0o077


def mode_for(target: Path) -> int:
    """The mode of a file that is about to be put in place of `target`: that of what is there, else a new file's."""
    try:
        return target.stat().st_mode & 0o777
    except OSError:
        umask = os.umask(_PRIVATE)  # it cannot be asked for; meanwhile other threads' files are the user's alone
        os.umask(umask)
        return 0o666 & ~umask
