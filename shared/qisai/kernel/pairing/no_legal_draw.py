"""No legal draw: why, as data and in words, found by analysis and not by guess (docs/rules.md section 3, rule 5).

The proof is a deficient set (Gallai–Edmonds): take the `needed` entrants away, and more odd clusters of the others are
left than there are needed entrants to take one of each. Lifting one bar between two clusters mends two of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import combinations
from typing import Any, Final

from qisai.errors import QisaiError
from qisai.kernel.pairing.field import Field
from qisai.kernel.pairing.legal_graph import legal_graph
from qisai.kernel.pairing.maximum_matching import NOBODY, Obstacle, complete_matching

MOST_LISTED: Final = 50
"""Longest list of pairs in a reason; `count` says how many there are."""


class Constraint(StrEnum):
    """What would have to give."""

    REMATCH = "rematch"
    FORBIDDEN = "forbidden"
    BYE = "bye"
    ALLOW_BYE = "allow_bye"


class NoLegalDraw(QisaiError):
    """No draw satisfies rules 1 to 4 of docs/rules.md section 3.

    `reason` (JSON-able) holds: `kind` (`byes_off` or `no_matching`), `round`, `present` (how many), `without_partner`
    (numbers of who has nobody left), `missing` (how many stay over at best), `clusters` (lists of numbers that compete;
    the bye stands as `"bye"`), `needed` (whom they compete for) and `would_help`. That has, per constraint: `alone`,
    whether lifting it everywhere gives a legal draw; `pairs` or `entrants` which, lifted singly, let two more be placed
    (so with `missing` 2 one is enough); and `count`, how many there are.
    """

    def __init__(self, reason: Mapping[str, Any], detail: str) -> None:
        super().__init__("no-legal-draw", detail, reason=dict(reason))
        self.reason = dict(reason)


def no_legal_draw(field: Field) -> NoLegalDraw:
    """The refusal for a field that has no legal draw; asking for a field that has one is a mistake (`ValueError`)."""
    if field.odd and not field.regulations.allow_bye:
        return _byes_off(field)
    graph = legal_graph(field)
    obstacle = complete_matching(graph, greedy_matching(graph))
    if obstacle is None:
        raise ValueError("this field has a legal draw")
    reason: dict[str, Any] = {
        "kind": "no_matching",
        "round": field.round,
        "present": field.size,
        "without_partner": [field.number[index] for index in range(field.size) if graph[index] == 0],
        "missing": obstacle.missing,
        "clusters": [[_name(field, index) for index in cluster] for cluster in obstacle.components],
        "needed": [_name(field, index) for index in obstacle.needed],
        "would_help": _would_help(field, obstacle),
    }
    return NoLegalDraw(reason, _words(reason))


def greedy_matching(graph: Sequence[int]) -> list[int]:
    """A quick matching to start from: the entrants with the fewest partners first."""
    mate = [NOBODY] * len(graph)
    free = (1 << len(graph)) - 1
    for v in sorted(range(len(graph)), key=lambda v: (graph[v].bit_count(), v)):
        partners = graph[v] & free & ~(1 << v)
        if free >> v & 1 and partners:
            w = (partners & -partners).bit_length() - 1
            mate[v], mate[w] = w, v
            free &= ~(1 << v | 1 << w)
    return mate


def _byes_off(field: Field) -> NoLegalDraw:
    reason: dict[str, Any] = {
        "kind": "byes_off",
        "round": field.round,
        "present": field.size,
        "without_partner": [],
        "missing": 1,
        "clusters": [],
        "needed": [],
        "would_help": [{"constraint": Constraint.ALLOW_BYE.value, "alone": True, "count": 0}],
    }
    detail = (
        f"{field.size} entrants are present in round {field.round}, an odd number, and this event gives no byes: "
        "seat a house player, or allow the bye"
    )
    return NoLegalDraw(reason, detail)


def _name(field: Field, index: int) -> int | str:
    return "bye" if index == field.size else field.number[index]


def _would_help(field: Field, obstacle: Obstacle) -> list[dict[str, Any]]:
    """Bars between two different clusters, by the rule they come from."""
    cluster_of = {index: at for at, cluster in enumerate(obstacle.components) for index in cluster}
    inside = sorted(index for index in cluster_of if index < field.size)
    pairs: dict[Constraint, list[list[int]]] = {Constraint.REMATCH: [], Constraint.FORBIDDEN: []}
    for i, j in combinations(inside, 2):
        if cluster_of[i] != cluster_of[j]:
            constraint = Constraint.REMATCH if j in field.met[i] else Constraint.FORBIDDEN
            pairs[constraint].append(sorted((field.number[i], field.number[j])))
    help_: list[dict[str, Any]] = [
        {
            "constraint": constraint.value,
            "alone": _lifted_is_enough(field, constraint),
            "pairs": sorted(found)[:MOST_LISTED],
            "count": len(found),
        }
        for constraint, found in pairs.items()
        if found
    ]
    if field.size in cluster_of:
        takers = sorted(field.number[i] for i in inside if cluster_of[i] != cluster_of[field.size])
        if takers:
            alone = _lifted_is_enough(field, Constraint.BYE)
            help_.append(
                {
                    "constraint": Constraint.BYE.value,
                    "alone": alone,
                    "entrants": takers[:MOST_LISTED],
                    "count": len(takers),
                }
            )
    return help_


def _lifted_is_enough(field: Field, constraint: Constraint) -> bool:
    graph = legal_graph(
        field,
        rematches=constraint is Constraint.REMATCH,
        forbidden=constraint is Constraint.FORBIDDEN,
        any_bye=constraint is Constraint.BYE,
    )
    return complete_matching(graph, greedy_matching(graph)) is None


def _words(reason: Mapping[str, Any]) -> str:
    parts = [f"Round {reason['round']} has no legal draw."]
    if reason["without_partner"]:
        parts.append(f"Nobody is left for {_listed(reason['without_partner'])}.")
    clusters = [_listed(cluster) for cluster in reason["clusters"]]
    needed = reason["needed"]
    between = f"only {_listed(needed)} can take one of each" if needed else "nobody can take one of each"
    parts.append(
        f"Entrants that cannot be paired among themselves: {'; '.join(clusters[:8])}{_more(clusters, 8)}; {between}."
    )
    for way in reason["would_help"]:
        parts.append(_way_in_words(way))
    return " ".join(parts)


def _way_in_words(way: Mapping[str, Any]) -> str:
    if way["constraint"] == Constraint.BYE:
        return f"It would help to give the bye out of turn to {_listed(way['entrants'])}."
    pairs = [f"{a}–{b}" for a, b in way["pairs"]]
    shown = f"{', '.join(pairs[:6])}{_more(pairs, 6)}"
    if way["constraint"] == Constraint.REMATCH:
        return f"It would help to let a pair meet again: {shown}."
    return f"It would help to lift a forbidden pair: {shown}."


def _listed(names: Sequence[int | str]) -> str:
    return ", ".join(map(str, names[:12])) + _more(names, 12)


def _more(items: Sequence[object], shown: int) -> str:
    return f" and {len(items) - shown} more" if len(items) > shown else ""
