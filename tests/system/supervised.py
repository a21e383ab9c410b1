"""A program for the supervisor's tests: runs the processes of `plan.json` under a real supervisor.

    python -m tests.system.supervised FOLDER

The plan is a list of objects: `name`, `code` (Python, run with the folder as `sys.argv[1]`), `stage`, `stop_seconds`.
`FOLDER/alive.json` always has the processes now alive.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

from qisai.local.identity import myself
from qisai.local.output import Output
from qisai.local.run_state import MARK, Running
from qisai.local.supervisor import Backoff, Process, Supervisor


def main() -> None:
    folder = Path(sys.argv[1])
    output = Output(sys.stdout, colour=sys.stdout.isatty())

    def on_change(alive: list[Running]) -> None:
        (folder / "alive.new").write_text(json.dumps([asdict(one) for one in alive]))
        (folder / "alive.new").replace(folder / "alive.json")

    supervisor = Supervisor(output, backoff=Backoff(first=0.1, most=0.4, calm=1.0), on_change=on_change)
    with supervisor.signals():
        for one in json.loads((folder / "plan.json").read_text()):
            words = [sys.executable, "-c", one["code"], str(folder)]
            supervisor.add(
                Process(
                    name=one["name"],
                    command=tuple(myself().command(words, parent=os.getpid())),
                    environment={**os.environ, MARK: str(folder), "PYTHONUNBUFFERED": "1"},
                    folder=folder,
                    stage=one.get("stage", 0),
                    stop_seconds=one.get("stop_seconds", 5.0),
                )
            )
        supervisor.run()
        supervisor.stop()
        supervisor.say("stopped")
    output.close()


if __name__ == "__main__":
    main()
