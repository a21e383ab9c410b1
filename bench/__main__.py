"""`python -m bench [PART …]`: run the parts named, or all; each prints its figures and writes its section.

A part is a module of this package with `run() -> str`, which measures and returns Markdown. Adding one is adding its
name to `PARTS`.
"""

from __future__ import annotations

import argparse
import importlib

from bench.report import write_section

PARTS = ("pairing", "hostile", "queue", "standings", "stream", "results")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all if none is named")
    chosen = parser.parse_args().parts or PARTS
    unknown = sorted(set(chosen) - set(PARTS))
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    for name in chosen:
        text = importlib.import_module(f"bench.{name}").run()
        print(f"\n== {name}\n\n{text}", flush=True)
        write_section(name, text)


if __name__ == "__main__":
    main()
