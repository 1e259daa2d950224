"""Number of files that this process may keep open; raised to what the system allows."""

from __future__ import annotations

import contextlib

_KEPT_FREE = 156
"""Files for libraries, pipes, databases and temporary copies."""
_UNKNOWN_LIMIT = 4_096
"""Limit where the system names none: Windows allows 8,192."""

try:
    import resource
except ModuleNotFoundError:  # Windows
    resource = None


def allow_open_files(wanted: int) -> int:
    """Returns the number of files that may be kept open for a document, at most `wanted`.

    macOS allows programs of its desktop 256 files and Linux 1,024 at first. Each program may raise that.
    """
    if resource is None:
        return min(wanted, _UNKNOWN_LIMIT - _KEPT_FREE)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + _KEPT_FREE
    if soft != resource.RLIM_INFINITY and soft < needed:
        # A system may refuse: macOS does for more than its own limit a process.
        with contextlib.suppress(ValueError, OSError):
            raised = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
            soft = raised
    return wanted if soft == resource.RLIM_INFINITY else max(1, min(wanted, soft - _KEPT_FREE))
