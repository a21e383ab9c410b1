"""What a complete draw costs: the whole tuple of docs/rules.md section 4, for any draw, however it was made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from qisai.kernel.pairing.criteria import Combine, Criterion
from qisai.kernel.pairing.field import Field
from qisai.kernel.pairing.lots import Ints
from qisai.kernel.pairing.systems import PairingSystem, system_for
from qisai.kernel.pairing.view import Pair, View, index_arrays, view_of


def cost_of(
    field: Field,
    pairs: Sequence[Pair],
    bye: int | None,
    *,
    system: PairingSystem | None = None,
    view: View | None = None,
) -> dict[str, int]:
    """Value of every criterion, by name, in the order of the system (default: the event's).

    `pairs` are indexes of the field, smaller first, and hold everybody but `bye` exactly once; the draw need not be
    legal. `view` saves building it again.
    """
    system = system or system_for(field)
    settled = (view or view_of(field)).settle(pairs)
    upper, lower = index_arrays(pairs)
    return {criterion.name: _value_of(criterion, settled, upper, lower, bye=bye) for criterion in system.criteria}


def _value_of(criterion: Criterion, settled: View, upper: Ints, lower: Ints, *, bye: int | None) -> int:
    values = criterion.of_pairs(settled, upper, lower).tolist()
    if bye is not None:
        values.append(criterion.of_bye(settled, bye))
    return max(values, default=0) if criterion.combine is Combine.MAX else sum(values)


def cross_cap(field: Field, pairs: Sequence[Pair]) -> int:
    """The largest number of cross pairs that one score group gave away as the upper side."""
    group = field.group
    given = Counter(group[i] for i, j in pairs if group[i] != group[j])
    return max(given.values(), default=0)
