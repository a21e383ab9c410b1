"""Registering oneself on a page, and one's own entry behind its link."""

from __future__ import annotations

import re
from time import monotonic

import pytest

from tests.gateway.platform import Platform
from tests.gateway.test_desk_pages import new_field
from tests.gateway.test_organiser_pages import field
from tests.gateway.test_pages import Person


@pytest.fixture(scope="module")
def public(platform: Platform) -> Person:
    return Person(platform)


def test_somebody_registers_reads_the_entry_and_cancels_it(platform: Platform, public: Person) -> None:
    there = new_field(platform, capacity=1)
    event = f"/events/{there.event_id}"
    assert f"{event}/register" in public.page(event)
    page = public.page(f"{event}/register")
    form = {"name": "陈一", "club": "甲队", "birth_year": "1990", "sex": "female", "phone": "13800000000"}
    answer = public.post(f"{event}/register", key=field(page, "key"), **form)
    assert "You are registered. Keep this link" in answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    link = re.search(r"/entry/[\w-]{20,}", answer.text)
    assert link is not None
    again = public.post(f"{event}/register", key=field(page, "key"), **form)
    assert "You are registered." in again.text
    assert list(there.states().values()) == ["registered"], "sent twice, entered once"
    second = public.post(f"{event}/register", name="李二")
    assert "place 1 in the waiting list" in second.text
    assert "on the waiting list: you have no place yet" in second.text
    assert "You are registered" not in second.text
    shown = public.page(event)
    assert "1 entry waits for approval · 1 on the waiting list" in shown
    assert "Nobody has entered yet." not in shown
    assert "陈一" not in shown
    assert "All places are taken. You can still register" in public.page(f"{event}/register")
    mine = public.page(link[0])
    assert "13800000000" in mine
    assert "shown only now" not in mine
    assert "13800000000" not in public.page(f"{event}/entrants")
    cancelled = public.post(f"{link[0]}/cancel")
    assert "Your entry is cancelled." in cancelled.text
    assert there.states() == {"陈一": "cancelled", "李二": "registered"}
    for nothing in ("/entry/nobody-has-this-link", "/entry/x", f"{event}/rounds/0"):
        answer = public.get(nothing)
        assert answer.status_code == 404
        assert "/token" not in answer.text
        assert "round_no" not in answer.text


def test_who_comes_too_late_is_told_just_that_and_keeps_what_was_typed(platform: Platform, public: Person) -> None:
    there = new_field(platform, capacity=1)
    there.add("陈一")
    platform.admin.events.act(platform.admin.events.get(there.event_id), "close-registration")
    late = public.post(f"/events/{there.event_id}/register", name="李二")
    assert late.status_code == 422
    assert field(late.text, "name") == "李二"
    assert "All places are taken" not in late.text
    assert "<button>Register</button>" not in late.text


def test_of_two_whom_nothing_tells_apart_the_second_is_told_so(platform: Platform, public: Person) -> None:
    there = new_field(platform)
    there.add("陈一")
    double = public.post(f"/events/{there.event_id}/register", name="陈一")
    assert double.status_code == 422
    assert "neither club nor birth year tells the two apart" in double.text


def test_what_cannot_be_registered_keeps_what_was_typed(platform: Platform, public: Person) -> None:
    there = new_field(platform)
    event = f"/events/{there.event_id}"
    there.add("陈一", club="甲队")
    double = public.post(f"{event}/register", name="陈一", club="甲队", email="c@example.org")
    assert double.status_code == 422
    assert "is entered already" in double.text
    assert field(double.text, "email") == "c@example.org"
    bad = public.post(f"{event}/register", name="李二", birth_year="1066")
    assert "Year of birth: " in bad.text
    assert field(bad.text, "birth_year") == "1066"
    assert len(there.states()) == 1
    extra = public.post(f"{event}/register", name="王五", seed="4000", fixed_board="1", notes="x")
    assert extra.ok
    (made,) = (one for one in platform.admin.entrants.list(there.event_id) if one.name == "王五")
    assert (made.seed, made.fixed_board, made.notes) == (None, None, ""), "the public says nothing the desk decides"


@pytest.mark.parametrize("members", [",", "陈一\n，；\n", "a" + " " * 40_000 + "b"], ids=["comma", "line", "wide"])
def test_lines_of_members_that_name_nobody_are_refused_in_words_and_at_once(
    platform: Platform, public: Person, members: str
) -> None:
    """Anyone may send such a form, and the gateway answers everybody in one thread."""
    there = new_field(platform)
    started = monotonic()
    answer = public.post(f"/events/{there.event_id}/register", name="甲队", members=members)
    assert answer.status_code == 422
    assert monotonic() - started < 5
    assert there.states() == {}


def test_a_closed_event_says_so(platform: Platform, public: Person) -> None:
    there = new_field(platform)
    event = platform.admin.events.get(there.event_id)
    platform.admin.events.act(event, "close-registration")
    page = public.page(f"/events/{there.event_id}/register")
    assert "Registration is not open now" in page
    assert "<form" not in page.split("<main")[1]
    refused = public.post(f"/events/{there.event_id}/register", name="陈一")
    assert refused.status_code == 422
    assert field(refused.text, "name") == "陈一"
    assert there.states() == {}
