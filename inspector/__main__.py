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
    elif sys.argv[1:2] == ["engine"]:
        from inspector.engine.serve import start_quickly as start_engine

        start_engine(sys.argv[2:])
    elif sys.argv[1:] == ["recorder", "--stdin"]:
        from inspector.sources.recorder_process import main as record

        record()
        sys.exit()
    else:
        from inspector.base.instance_lock import quick_request, try_handover

        request = quick_request(sys.argv[1:])
        if request is not None:
            if try_handover(request):
                return
            from inspector.startup.window_start import start_without_parser

            start_without_parser(request)
    from inspector.startup.program import main as run

    run()


if __name__ == "__main__":
    main()
