"""Exit codes of the program, shared by its parts."""

from __future__ import annotations

OUR_FAULT = 70
"""Exit code for an internal error, EX_SOFTWARE of sysexits.h; 1 and 2 are about the log and the arguments."""
