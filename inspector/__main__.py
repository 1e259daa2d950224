"""Entry point of the program.

Kept light: worker processes import this module too, without the rest of the program.
"""

from __future__ import annotations

import sys
from multiprocessing import freeze_support


def main() -> None:
    freeze_support()  # a packaged program is its own interpreter
    if sys.argv[1:2] == ["tap"]:
        from inspector.tap.start import start_quickly

        start_quickly(sys.argv[2:])
    else:
        from inspector.base.instance_lock import handed_over_quickly, quick_request

        request = quick_request(sys.argv[1:])
        if request is not None:
            if handed_over_quickly(request):
                return
            from inspector.startup.window_start import start_plainly

            start_plainly(request)
    from inspector.startup.program import main as run

    run()


if __name__ == "__main__":
    main()
