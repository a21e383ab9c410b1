"""The tie-breaks of docs/rules.md section 9, one idea a file.

`TIE_BREAKS` is a plain table: a new tie-break is one file and one entry here (docs/how-to/add-a-tie-break.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from qisai.kernel.tie_breaks.aro import ARO
from qisai.kernel.tie_breaks.buchholz import BH, BH_C1, BH_C2, BH_M1
from qisai.kernel.tie_breaks.criterion import Criterion
from qisai.kernel.tie_breaks.direct import DIRECT
from qisai.kernel.tie_breaks.lots import LOTS
from qisai.kernel.tie_breaks.opponents import OPPONENTS
from qisai.kernel.tie_breaks.progressive import PROGRESSIVE, PROGRESSIVE_CUT1
from qisai.kernel.tie_breaks.sb_fide import SB_FIDE
from qisai.kernel.tie_breaks.second_side import SECOND_GAMES, SECOND_WINS
from qisai.kernel.tie_breaks.sodos import SODOS
from qisai.kernel.tie_breaks.sosos import SOSOS
from qisai.kernel.tie_breaks.wins import WINS, WINS_PLAYED

TIE_BREAKS: Final[Mapping[str, Criterion]] = MappingProxyType(
    {
        criterion.code: criterion
        for criterion in (
            OPPONENTS,
            PROGRESSIVE,
            PROGRESSIVE_CUT1,
            DIRECT,
            WINS,
            WINS_PLAYED,
            SECOND_GAMES,
            SECOND_WINS,
            SODOS,
            SOSOS,
            BH,
            BH_C1,
            BH_C2,
            BH_M1,
            SB_FIDE,
            ARO,
            LOTS,
        )
    }
)
"""Every tie-break by its code."""
