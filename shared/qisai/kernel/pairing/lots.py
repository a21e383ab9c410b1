"""Lots: numbers in 0…65,535 that make the best draw unique and that anyone can recompute by hand.

docs/rules.md section 4: the first 16 bits of SHA-256 over `"{lot_seed}:{round}:{a}"` for the bye,
`"{lot_seed}:{round}:{a}>{s}"` for a floater (s: the opponent's score in half-points) and
`"{lot_seed}:{round}:{a}:{b}"` (a < b) for a pair, where a and b are entrants' numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class Lots:
    """The lots of one round. Entrants are named by their index in the field; `number` turns it into their number."""

    __slots__ = ("_floaters", "_number", "_stem")

    def __init__(self, *, lot_seed: int, round_number: int, number: Sequence[int]) -> None:
        self._stem = f"{lot_seed}:{round_number}:".encode()
        self._number = number
        self._floaters: dict[tuple[int, int], int] = {}

    def bye(self, index: int) -> int:
        """Lot of the entrant who gets the bye."""
        return _first_16_bits(b"%b%d" % (self._stem, self._number[index]))

    def floater(self, index: int, opponent_score: int) -> int:
        """Lot of an entrant who floats to an opponent with this score in half-points."""
        key = (index, opponent_score)
        lot = self._floaters.get(key)
        if lot is None:
            lot = _first_16_bits(b"%b%d>%d" % (self._stem, self._number[index], opponent_score))
            self._floaters[key] = lot
        return lot

    def pair(self, i: int, j: int) -> int:
        """Lot of a pair, the same whichever of the two is named first."""
        a, b = self._number[i], self._number[j]
        return _first_16_bits(b"%b%d:%d" % ((self._stem, a, b) if a < b else (self._stem, b, a)))

    def floaters(self, index: Ints, opponent_score: Ints) -> Ints:
        """Lots of many floaters at once; both arrays have one shape, and so has the answer."""
        lot = self.floater
        flat = [lot(i, s) for i, s in zip(index.ravel().tolist(), opponent_score.ravel().tolist(), strict=True)]
        return np.array(flat, dtype=np.int64).reshape(index.shape)

    def pairs(self, i: Ints, j: Ints) -> Ints:
        """Lots of many pairs at once; both arrays have one shape, and so has the answer."""
        number = np.asarray(self._number, dtype=np.int64)
        a, b = number[i.ravel()], number[j.ravel()]
        smaller, larger = np.minimum(a, b).tolist(), np.maximum(a, b).tolist()
        text = self._stem + b"%d:%d"
        digests = b"".join([sha256(text % pair).digest() for pair in zip(smaller, larger, strict=True)])
        return np.frombuffer(digests, dtype=">u2")[::16].astype(np.int64).reshape(i.shape)


def _first_16_bits(text: bytes) -> int:
    digest = sha256(text).digest()
    return digest[0] << 8 | digest[1]
