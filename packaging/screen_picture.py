"""Makes a PNG of the picture of a screen that Xvfb keeps in a file: `screen_picture.py XWD PNG`."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

from PySide6.QtGui import QImage


def main() -> None:
    """Read the head, which says where the pixels lie, and write them."""
    data = Path(sys.argv[1]).read_bytes()
    head = struct.unpack_from(">25L", data)
    start, width, height, line, colours = head[0], head[4], head[5], head[12], head[19]
    pixels = data[start + 12 * colours :]
    if not QImage(pixels, width, height, line, QImage.Format.Format_RGB32).save(sys.argv[2]):
        sys.exit(f"{sys.argv[2]} could not be written")


if __name__ == "__main__":
    main()
