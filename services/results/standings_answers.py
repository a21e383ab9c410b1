"""Standings, crosstable, one entrant's history and prizes as the JSON of the API."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from qisai.db.rounds import StandingsKind
from qisai.errors import NotFound
from qisai.kernel.categories import places
from qisai.kernel.crosstable import crosstable_to_json
from qisai.kernel.profiles import Unit
from qisai.kernel.standings import Standings
from qisai.kernel.standings_file import arithmetic_to_json, standings_to_json
from qisai.kernel.tie_breaks.points import POINTS
from services.results.queries.standings import Table

Json = dict[str, Any]


def document(table: Table, kind: StandingsKind) -> Json:
    """The table with names. `criteria` in order; `scale`: units per point in which a value is exact.

    A crosstable has the same rows with their rounds; `sides` says whether the game shows who moved first.
    """
    found = table.standings
    head: Json = {
        "after": found.after,
        "criteria": [{"code": code, "scale": int(found.scale(code))} for code in found.tie_breaks],
    }
    if kind is StandingsKind.CROSSTABLE:
        rows = crosstable_to_json(found, with_sides=table.shows_sides)
        head["sides"] = table.shows_sides
    else:
        rows = standings_to_json(found)["rows"]
    who = _entrants(table)
    return {**head, "rows": [{**row, **who[row["number"]]} for row in rows]}


def _entrants(table: Table) -> Mapping[int, Json]:
    """What a row says of its entrant, by number; a team with its members."""
    ids = table.snapshot.entrant_ids
    return {
        entrant.number: {
            "entrant_id": ids[entrant.number],
            "name": entrant.name,
            "club": entrant.club,
            "seed": entrant.seed,
            "withdrawn_from": entrant.withdrawn_from,
            **({} if table.unit is Unit.INDIVIDUAL else {"members": list(entrant.members)}),
        }
        for entrant in table.snapshot.tournament.entrants
    }


def arithmetic(table: Standings, number: int) -> Json:
    """What was added up for one entrant: points first, then every criterion in force. Raises `NotFound`."""
    return {
        "after": table.after,
        "number": number,
        "criteria": [
            {"code": code, "terms": arithmetic_to_json(table.arithmetic(number, code), table.scale(code))}
            for code in (POINTS.code, *table.tie_breaks)
        ],
    }


def history(crosstable: Json, number: int) -> Json:
    """One entrant's rounds with opponents by name and the total after each. Raises `NotFound`."""
    rows = {row["number"]: row for row in crosstable["rows"]}
    if number not in rows:
        raise NotFound("unknown-entrant", f"There is no entrant {number}.", number=number)
    row = rows[number]
    rounds, total = [], 0
    for cell in row["cells"]:
        total += cell["points"]
        opponent = rows.get(cell["opponent"])
        who = None if opponent is None else {name: opponent[name] for name in ("entrant_id", "number", "name", "club")}
        rounds.append({**cell, "opponent": who, "total": total})
    place = {name: value for name, value in row.items() if name != "cells"}
    return {"after": crosstable["after"], "sides": crosstable["sides"], **place, "rounds": rounds}


def in_category(standings: Json, *, numbers: Collection[int], category: Json) -> Json:
    """The rows of a category, each with its place among them beside its rank in the whole table."""
    rows = [row for row in standings["rows"] if row["number"] in numbers]
    found = places([row["rank"] for row in rows])
    chosen = [{**row, "category_rank": place} for row, place in zip(rows, found, strict=True)]
    return {**standings, "category": category, "rows": chosen}
