"""Where the program starts.

Kept light: processes that read parts of a log for a window import this module too, and nothing else of the program.
"""

from __future__ import annotations

from multiprocessing import freeze_support


def main() -> None:
    """Run the program."""
    freeze_support()  # a packaged program is its own interpreter
    from inspector.program import main as run

    run()


if __name__ == "__main__":
    main()
