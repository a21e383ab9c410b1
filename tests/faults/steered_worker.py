"""The product's worker with another solver command: `celery -A tests.faults.steered_worker worker`.

The command is a constant of the code; here the tests put theirs in its place, which no setting can.
"""

from __future__ import annotations

import os
import sys

from services.pairing import app as product

product.SOLVER_COMMAND = [sys.executable, "-m", "tests.faults.steered_solver", os.environ["STEERING"]]  # type: ignore[misc]
app = product.app
