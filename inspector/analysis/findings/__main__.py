"""`python -m inspector.analysis.findings` writes the page about all findings to standard output."""

from __future__ import annotations

import sys

from inspector.analysis.findings.page import page

if __name__ == "__main__":
    sys.stdout.write(page())
