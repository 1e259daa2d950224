"""Exit codes of the program that several places use."""

from __future__ import annotations

OUR_FAULT = 70
"""Exit code for an error in the program itself, EX_SOFTWARE of sysexits.h.

Codes 1 and 2 say something about the log and the arguments.
"""
