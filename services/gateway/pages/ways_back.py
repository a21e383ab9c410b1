"""Ways back from addresses that forms are sent to: a reload, or another language, leads to the page of the form."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, redirect, request, url_for
from werkzeug.wrappers import Response

from qisai.web.rights import Right, requires


def leads_back(pages: Blueprint, rule: str, *, to: str) -> None:
    """Makes a GET of `rule`, which takes POST only, lead to the page `to` with those of its values that `to` has."""

    @requires(Right.PUBLIC)
    def back(**values: Any) -> Response:
        values.pop("action", None)  # the step that was asked for is no part of the page
        return redirect(url_for(to, **(values | request.args.to_dict())))

    pages.add_url_rule(rule, endpoint=f"back_from_{len(pages.deferred_functions)}", view_func=back)
