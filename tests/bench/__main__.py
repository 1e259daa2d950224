"""Measures everything and prints one table: `python -m tests.bench [--quick] [--only NAME]... [--json FILE]`."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from tests.bench import machine, sizes
from tests.bench.bench import Bench
from tests.bench.sections import SECTIONS
from tests.bench.table import Row, lines


def main() -> int:
    """Measure, print, and say how many targets were reached. Always 0: a benchmark is no timed test."""
    names = [section.name for section in SECTIONS]
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="little of everything, in under a minute")
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help=f"one of: {', '.join(names)}")
    parser.add_argument("--json", type=Path, help="also write every figure to a file")
    arguments = parser.parse_args()
    begun, about = time.perf_counter(), machine.facts()
    measured: list[tuple[str, list[Row]]] = []
    with Bench(sizes.chosen(quick=arguments.quick)) as bench:
        wanted = [section for section in SECTIONS if not arguments.only or section.name in arguments.only]
        measured.extend((section.title, section.measured(bench)) for section in wanted)
        if arguments.json is not None:
            arguments.json.write_text(json.dumps({"machine": about, "figures": bench.found()}, indent=1))
    print(f"\n{about}; {'quick' if arguments.quick else 'full'} run of {time.perf_counter() - begun:.0f} s\n")
    print("\n".join(lines(measured)))
    verdicts = [row.verdict for _, rows in measured for row in rows]
    missing = sum(verdict.startswith("not measured") for verdict in verdicts)
    reached, missed = verdicts.count("reached"), verdicts.count("not reached")
    print(f"\n{reached} targets reached, {missed} not reached, {missing} not measured")
    return 0


if __name__ == "__main__":
    sys.exit(main())
