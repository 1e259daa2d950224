"""Holding a file for as long as a process lives: whoever finds it free knows that its owner has ended, somehow.

For the few files the program writes about itself; `filelock`, which captures go by, takes 80 ms to import, and these
are held at the start.
"""

from __future__ import annotations

import os
import sys

_FAR_AWAY = 1 << 40
"""Where Windows holds one byte: what is held there cannot be read by others, and nothing ever lies there."""


def hold(descriptor: int) -> bool:
    """Hold an open file for this process until it is closed; False when somebody else holds it.

    The file's position is that of its end afterwards.
    """
    if sys.platform == "win32":
        import msvcrt

        try:
            os.lseek(descriptor, _FAR_AWAY, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(descriptor, 0, os.SEEK_END)
        return True
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
