"""Why a job ended as it did, in the caller's language: sentences by slug, put together from what its row keeps.

In English it is what the worker wrote; so it is in the other languages where a text is lacking.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from werkzeug.datastructures import LanguageAccept

from qisai.web.problem_texts import language_of, localised

MOST_NAMED: Final = 12
"""Numbers or pairs that a sentence names; the document of the job has them all."""
_FALLS_BACK: Final = frozenset({"solver-deadline", "solver-crashed", "solver-done"})
_RUNGS: Final = {"this_run": "answer-this-run", "earlier_draft": "answer-earlier-draft"}
_HELPS: Final = {
    "rematch": "help-rematch",
    "forbidden": "help-forbidden",
    "bye": "help-bye",
    "allow_bye": "help-allow-bye",
}
Sentence = tuple[str, Mapping[str, Any]]


def in_words(outcome: Mapping[str, Any], languages: LanguageAccept) -> dict[str, Any]:
    """The outcome of a job, or the detail of an alert about one, with its `detail` in the caller's language."""
    if "detail" not in outcome or language_of(languages) == "en":
        return dict(outcome)
    slug, detail = str(outcome.get("slug")), str(outcome["detail"])
    said = [localised(one, "", context=context, languages=languages)[1] for one, context in sentences(slug, outcome)]
    return {**outcome, "detail": "".join(said) if all(said) else detail}


def sentences(slug: str, outcome: Mapping[str, Any]) -> Iterator[Sentence]:
    """Slugs of `problem_texts` with what each names, in the order in which they are said."""
    reason = outcome.get("reason")
    context = {**outcome, **(reason if isinstance(reason, Mapping) else {})}
    if slug == "no-legal-draw":
        yield from _no_legal_draw(context)
        return
    yield slug, context
    if slug in _FALLS_BACK:
        yield _RUNGS.get(str(outcome.get("rung")), "answer-none"), _with_time(context)


def _no_legal_draw(context: Mapping[str, Any]) -> Iterator[Sentence]:
    yield "no-legal-draw", context
    if context.get("without_partner"):
        yield "nobody-left", {"entrants": _listed(context["without_partner"])}
    for way in context.get("would_help") or ():
        named = [f"{a}–{b}" for a, b in way.get("pairs") or ()] or list(way.get("entrants") or ())
        yield _HELPS.get(way["constraint"], ""), {"named": _listed(named)}


def _listed(names: Sequence[Any]) -> str:
    return "、".join(map(str, names[:MOST_NAMED])) + ("……" if len(names) > MOST_NAMED else "")


def _with_time(context: Mapping[str, Any]) -> dict[str, Any]:
    try:
        at = datetime.fromisoformat(str(context["drawn_at"]))
    except (KeyError, ValueError):
        return dict(context)
    return {**context, "drawn_at": f"{at:%Y-%m-%d %H:%M} UTC"}
