"""Drafts changed and made by hand: try a change, make it, go back to an earlier draft, type pairs from paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

from qisai.client import Client, DrawView
from qisai.errors import Conflict, Invalid, PreconditionMissing, QisaiError, Stale, Unauthenticated
from qisai.kernel import parse_tournament
from qisai.kernel.pairing.field import Field
from qisai.kernel.pairing.hand import manual_draw
from qisai.web.rights import Right, requires
from services.gateway.pages import draft_edits, draft_words, wording
from services.gateway.pages.away import away_from
from services.gateway.pages.chief import ROUND, Page, draw_page
from services.gateway.pages.draft import exported, field_of
from services.gateway.pages.paper import lines_of_field
from services.gateway.pages.site import client, for_those_who, lines_of, status_of

pages = Blueprint("hand", __name__)

_DRAFT = f"{ROUND}/draw/<int:number>"


@pages.post(f"{_DRAFT}/edit")
@requires(Right.PUBLIC)
def edit(event_id: int, round_no: int, number: int) -> Page:
    """One change of the draft that the page showed: with `look` only what it would come to."""
    form, asking = request.form.to_dict(), client()
    seen = asking.rounds.draw(event_id, round_no, number)
    if seen.state != "draft" or seen.version != _version(form):
        return _page(event_id, round_no, form, status=412, conflict=_conflict(asking, event_id, round_no))
    read = draft_edits.one_change(form, seen)
    if read.edit is None:
        return _page(event_id, round_no, form, status=422, edit_faults=read.faults)
    try:
        if "look" in form:
            preview = _looked(asking, event_id, round_no, seen, read.edit)
            return _page(event_id, round_no, form, status=200, preview=preview)
        asking.rounds.edit_draw(event_id, round_no, seen, [read.edit])
    except Unauthenticated:
        raise
    except QisaiError as error:
        return _refused(error, asking, event_id, round_no, seen=seen, form=form, change=read.edit)
    flash(_("The draft is changed."), "done")
    return _to_draft(event_id, round_no)


def _refused(
    error: QisaiError,
    asking: Client,
    event_id: int,
    round_no: int,
    *,
    seen: DrawView,
    form: Mapping[str, str],
    change: Mapping[str, Any],
) -> Page:
    if isinstance(error, Stale) or (isinstance(error, Conflict) and error.slug in ("draw-not-draft", "draw-stale")):
        return _page(event_id, round_no, form, status=412, conflict=_conflict(asking, event_id, round_no))
    if isinstance(error, Invalid) and error.slug == "reason-needed":
        preview = _looked(asking, event_id, round_no, seen, change)
        faults = [_("This change breaks a rule: say why it is wanted.")]
        return _page(event_id, round_no, form, status=422, edit_faults=faults, preview=preview)
    return _page(event_id, round_no, form, status=status_of(error), edit_faults=lines_of(error))


def _looked(asking: Client, event_id: int, round_no: int, seen: DrawView, change: Mapping[str, Any]) -> dict[str, Any]:
    """What a change would come to."""
    made = asking.rounds.edit_draw(event_id, round_no, seen, [change], dry_run=True)
    before = set(draft_edits.pairs(seen))
    return {
        "draw": made,
        "change": change,
        "costs": draft_words.cost_changes(seen.cost, made.cost, sides=wording.shows_sides(asking.events.get(event_id))),
        "boards": [board for board in made.boards if _sides(board) not in before],
        "needs_reason": bool(made.reasons_needed),
    }


def _sides(board: Mapping[str, Any]) -> tuple[int, int]:
    return board["first"]["number"], board["second"]["number"]


@pages.post(f"{_DRAFT}/restore")
@requires(Right.PUBLIC)
def restore(event_id: int, round_no: int, number: int) -> Page:
    """Seats everybody as in an earlier draft again, as changes of the present one."""
    form, asking = request.form.to_dict(), client()
    seen = asking.rounds.draw(event_id, round_no, number)
    if seen.state != "draft" or seen.version != _version(form):
        return _page(event_id, round_no, {}, status=412, conflict=_conflict(asking, event_id, round_no))
    to = int(form["to"]) if form.get("to", "").isdecimal() and len(form["to"]) < 10 else 0
    reason = _("Back to draft %(number)s", number=to)
    try:
        then = asking.rounds.draw(event_id, round_no, to)
        edits = draft_edits.way_back(seen, then, reason=reason)
        made = asking.rounds.edit_draw(event_id, round_no, seen, edits, dry_run=True) if edits else seen
        edits += draft_edits.turned(made, then, reason=reason)
        if edits:
            asking.rounds.edit_draw(event_id, round_no, seen, edits)
    except Unauthenticated:
        raise
    except QisaiError as error:
        return draw_page(event_id, round_no, faults=lines_of(error)), status_of(error)
    flash(_("The draft is as draft %(number)s was.", number=to), "done")
    return _to_draft(event_id, round_no)


@pages.post(f"{ROUND}/draw/by-hand")
@requires(Right.PUBLIC)
def by_hand(event_id: int, round_no: int) -> Page:
    """A draft from pairs as typed, or with none the list of everybody present, to pair from."""
    form, asking = request.form.to_dict(), client()
    draws = asking.rounds.draws(event_id, round_no)
    latest = draws[0].number if draws else 0
    if form.get("latest", "") != str(latest):
        conflict = _conflict(asking, event_id, round_no)
        return _page(event_id, round_no, form, status=412, conflict=conflict, hand_open=True)
    tournament = exported(asking, event_id)
    read, faults = _typed(form, field_of(tournament, round_no))
    status = 422
    if not faults:
        try:
            asking.rounds.make_draw(
                event_id,
                round_no,
                read.pairs,
                bye=read.bye,
                reason=form.get("reason", "").strip(),
                replaces=next((draw for draw in draws if draw.state == "draft"), None),
                key=form.get("key") or None,
            )
        except Unauthenticated:
            raise
        except (Stale, PreconditionMissing):
            conflict = _conflict(asking, event_id, round_no)
            return _page(event_id, round_no, form, status=412, conflict=conflict, hand_open=True)
        except QisaiError as error:
            status, faults = status_of(error), list(lines_of(error))
            if error.slug == "reason-needed" and tournament is not None:
                faults = _broken(tournament, read)
    if faults:
        return _page(event_id, round_no, form, status=status, hand_faults=faults, hand_open=True)
    flash(_("The draft is made."), "done")
    return _to_draft(event_id, round_no)


def _typed(form: Mapping[str, str], field: Field | None) -> tuple[draft_edits.TypedPairs, list[str]]:
    """Pairs as typed, none where the list of everybody present is wanted, and what is wrong with them."""
    text, wants_list = form.get("pairs", ""), "pool" in form
    read = draft_edits.typed_pairs("" if wants_list else text, None if field is None else field.number)
    if text.strip() and wants_list:
        return read, [_("Pairs are typed already: make the draft from them, or clear the field first.")]
    if not text.strip() and not wants_list:
        return read, [_("Type at least one pair.")]
    return read, list(read.faults)


def _broken(tournament: Mapping[str, Any], read: draft_edits.TypedPairs) -> list[str]:
    """Which rules pairs by hand break, with names."""
    parsed = parse_tournament(tournament)
    names = {entrant.number: entrant.name for entrant in parsed.entrants}
    made = manual_draw(parsed, read.pairs, read.bye, reason="", note={})
    broken = [
        draft_words.breach(
            {"breach": one.violation.breach.value, "entrants": one.violation.entrants, "detail": ""}, names
        )
        for one in made.needed
    ]
    return [_("This draw breaks a rule: say why it is wanted."), *broken]


@pages.get(f"{ROUND}/draw/list")
@requires(Right.PUBLIC)
def paper_list(event_id: int, round_no: int) -> str:
    """Everybody present, to pair on paper: points, whom they met, sides so far."""
    asking = client()
    event = asking.events.get(event_id)
    for_those_who(Right.PAIR, event)
    tournament = exported(asking, event_id)
    return render_template(
        "paper_list.html",
        event=event,
        rounds=asking.rounds.list(event_id),
        round_no=round_no,
        lines=lines_of_field(tournament, round_no),
        away=away_from(tournament, round_no),
    )


def _conflict(asking: Client, event_id: int, round_no: int) -> dict[str, Any]:
    """Who changed the draft meanwhile, when, and into what."""
    draws = asking.rounds.draws(event_id, round_no)
    latest = draws[0] if draws else None
    if latest is None:
        return {"draw": None, "edits": (), "names": {}}
    whole = asking.rounds.draw(event_id, round_no, latest.number)
    edits = tuple(whole.document.get("edits") or ())
    return {"draw": whole, "edit": edits[-1] if edits else None, "names": draft_words.names_of(whole)}


def _page(event_id: int, round_no: int, form: Mapping[str, str], *, status: int, **more: Any) -> Page:
    """The page as it was sent; to a script that only looks, what it would come to."""
    if "fragment" in form and "conflict" not in more:
        event = client().events.get(event_id)
        return render_template("edit_preview.html", event=event, saying=draft_words, **more), status
    typed = {**form, "action": "edit" if "kind" in form else "by-hand"}
    return draw_page(event_id, round_no, typed=typed, **more), status


def _version(form: Mapping[str, str]) -> int:
    text = form.get("version", "")
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def _to_draft(event_id: int, round_no: int) -> Response:
    return redirect(url_for("chief.draw", event_id=event_id, round_no=round_no) + "#draft-now", code=303)
