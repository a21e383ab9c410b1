"""The game profiles of `qisai.kernel.profiles` as rows. What an administrator edited is left alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from qisai.db.events import ProfileRow
from qisai.kernel.profiles import PROFILES, Profile, Unit
from qisai.kernel.regulations_file import regulations_to_json, used_fields


@dataclass(frozen=True, slots=True)
class SeededProfiles:
    """Codes of the profiles that were added, brought up to date, or left as somebody edited them."""

    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def profile_data(profile: Profile) -> dict[str, Any]:
    """A profile as `profile.data` and `event.profile_copy` keep it; `regulations` as in `qisai.tournament/1`,
    but only those that the game uses; `team_size` is null for individuals."""
    return {
        "code": profile.code,
        "names": dict(profile.names),
        "unit": profile.unit.value,
        "team_size": None if profile.unit is Unit.INDIVIDUAL else profile.team_size,
        "units_per_table": profile.units_per_table,
        "first_move": profile.first_move,
        "sides": [dict(side) for side in profile.sides],
        "board": dict(profile.board),
        "regulations": used_fields(regulations_to_json(profile.regulations())),
    }


def seed_profiles(connection: sa.Connection) -> SeededProfiles:
    """Adds profiles that are missing and updates those that changed with the release and that nobody edited."""
    columns = (ProfileRow.code, ProfileRow.data, ProfileRow.shipped, ProfileRow.version)
    rows = connection.execute(sa.select(*columns).with_for_update()).all()
    present = {row.code: row for row in rows}
    added, updated, kept = [], [], []
    for position, profile in enumerate(PROFILES.values(), start=1):
        data = profile_data(profile)
        row = present.get(profile.code)
        if row is None:
            values = {"code": profile.code, "position": position, "data": data, "shipped": data}
            connection.execute(sa.insert(ProfileRow).values(**values))
            added.append(profile.code)
        elif row.data != row.shipped:
            kept.append(profile.code)
        elif row.data != data:
            change = {"data": data, "shipped": data, "version": row.version + 1, "updated_at": sa.func.now()}
            connection.execute(sa.update(ProfileRow).where(ProfileRow.code == profile.code).values(**change))
            updated.append(profile.code)
    return SeededProfiles(tuple(added), tuple(updated), tuple(kept))
