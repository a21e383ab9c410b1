"""Game profiles: what every new event starts from, and how the association changes it."""

from __future__ import annotations

from flask import Response
from flask_openapi3 import APIBlueprint, Tag

from qisai.kernel.profiles import POINTS_PRESETS, TIE_BREAK_PRESETS
from qisai.kernel.regulations_file import points_number
from qisai.web.identity import current_caller
from qisai.web.requests import Answer, version_seen, version_tag
from qisai.web.rights import Right, requires
from qisai.web.shapes import page
from services.registration import answers
from services.registration.event_schemas import ProfileChange, ProfilePath
from services.registration.operations import profiles as operations
from services.registration.process import database
from services.registration.queries import events as queries

api = APIBlueprint("profiles", __name__, url_prefix="/api/v1", abp_tags=[Tag(name="profiles")])


@api.get("/profiles")
@requires(Right.PUBLIC)
def list_profiles() -> Response:
    """All games with the regulations they propose, and the presets that a form offers."""
    with database().transaction() as session:
        items = [answers.profile(row) for row in queries.profiles(session)]
    points = {
        name: {part: points_number(getattr(preset, part)) for part in ("win", "draw", "loss", "bye")}
        for name, preset in POINTS_PRESETS.items()
    }
    presets = {"points": points, "tie_breaks": {name: list(codes) for name, codes in TIE_BREAK_PRESETS.items()}}
    return Answer(body={**page(items), "presets": presets}).response()


@api.get("/profiles/<code>")
@requires(Right.PUBLIC)
def get_profile(path: ProfilePath) -> Response:
    """One game with its version."""
    with database().transaction() as session:
        row = queries.profile(session, path.code)
        return Answer(body=answers.profile(row), headers=version_tag(row.version)).response()


@api.patch("/profiles/<code>")
@requires(Right.MANAGE_PROFILES)
def change_profile(path: ProfilePath, body: ProfileChange) -> Response:
    """Changes what new events of this game start from; events that exist keep their own copy."""
    seen = version_seen()
    with database().transaction() as session:
        row = operations.change_profile(
            session,
            current_caller().actor,
            code=path.code,
            seen_version=seen,
            changes=body.model_dump(include=body.model_fields_set - {"reason"}, exclude_none=True, by_alias=True),
            reason=body.reason,
        )
        return Answer(body=answers.profile(row), headers=version_tag(row.version)).response()


@api.get("/profiles/<code>/history")
@requires(Right.MANAGE_PROFILES)
def profile_history(path: ProfilePath) -> Response:
    """Every change of this game by a person, newest first: who, when, before and after."""
    with database().transaction() as session:
        queries.profile(session, path.code)
        items = [answers.change_of_profile(row) for row in queries.profile_history(session, path.code)]
    return Answer(body=page(items)).response()
