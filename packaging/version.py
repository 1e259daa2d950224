"""Prints the version, for scripts: `python packaging/version.py`."""

import bundle

if __name__ == "__main__":
    print(bundle.version())
