"""Drafts on the chief referee's page: tried, changed with reasons, restored, made from paper, accepted."""

from __future__ import annotations

import re

import pytest
import sqlalchemy as sa

from qisai.db.accounts import Role
from qisai.db.jobs import JobRow, JobState
from qisai.kernel.model import Source
from tests.gateway.drafts import computed_draft
from tests.gateway.platform import NAMES, Platform, tournament
from tests.gateway.test_pages import Person, referee
from tests.gateway.test_table_pages import cells


@pytest.fixture(scope="module")
def chief(platform: Platform) -> Person:
    return Person(platform, platform.login)


def drawn(platform: Platform, **options: object) -> int:
    """An event whose third round has a computed draft: 4–1, 2–3, 8–5, 6–7 by rank of boards."""
    event_id = platform.event(tournament(reported=4))
    computed_draft(platform, event_id, 3, **options)  # type: ignore[arg-type]
    return event_id


def pairs(platform: Platform, event_id: int, number: int) -> list[tuple[int, int]]:
    boards = platform.admin.rounds.draw(event_id, 3, number).boards
    return [(board["first"]["number"], board["second"]["number"]) for board in boards]


def opponents(platform: Platform, event_id: int, number: int) -> set[frozenset[int]]:
    return {frozenset(pair) for pair in pairs(platform, event_id, number)}


def edit(chief: Person, event_id: int, number: int, kind: str, a: str = "", b: str = "", **more: str):  # type: ignore[no-untyped-def]
    form = {"version": "1", "kind": kind, "a": a, "b": b, **more}
    return chief.post(f"/events/{event_id}/rounds/3/draw/{number}/edit", **form)


def meets(platform: Platform, event_id: int, entrant: int) -> int:
    return next(next(iter(pair - {entrant})) for pair in opponents(platform, event_id, 1) if entrant in pair)


def test_a_change_is_tried_first_and_what_it_costs_is_said_before_and_after(platform: Platform, chief: Person) -> None:
    event_id = drawn(platform)
    tried = edit(chief, event_id, 1, "swap", "1", "6", look="1")
    assert tried.status_code == 200
    assert f"1 {NAMES[0]} and 6 {NAMES[5]} change places" in tried.text
    assert re.search(r"<span class=\"bad\">worse</span>: clashes over the side 0 → <strong>2</strong>", tried.text)
    assert 'name="a" inputmode="numeric" maxlength="6" size="5" value="1"' in tried.text
    assert [one.number for one in platform.admin.rounds.draws(event_id, 3)] == [1], "nothing is written"
    part = edit(chief, event_id, 1, "swap", "1", "6", look="1", fragment="1")
    assert "<html" not in part.text
    assert "change places" in part.text

    before = opponents(platform, event_id, 1)
    made = edit(chief, event_id, 1, "swap", "1", "6", reason="教练请求")
    assert "The draft is changed." in made.text
    after = opponents(platform, event_id, 2)
    turned = {1: 6, 6: 1}
    assert after == {frozenset(turned.get(number, number) for number in pair) for pair in before}
    assert "1 change by hand" in made.text
    assert "教练请求" in made.text
    assert "裁判长" in made.text


def test_a_broken_rule_is_named_with_names_and_needs_a_reason_and_what_was_typed_stays(
    platform: Platform, chief: Person
) -> None:
    event_id = drawn(platform)
    refused = edit(chief, event_id, 1, "pair", "1", "2")
    assert refused.status_code == 422
    assert f"1 {NAMES[0]} – 2 {NAMES[1]}: have met before" in refused.text
    assert "This change breaks a rule: say why it is wanted." in refused.text
    assert "data-needs-reason" in refused.text
    assert 'value="2"' in refused.text
    assert len(platform.admin.rounds.draws(event_id, 3)) == 1
    made = edit(chief, event_id, 1, "pair", "1", "2", reason="上一轮未赛完，重赛")
    assert "The draft is changed." in made.text
    assert "(wanted, with a reason)" in made.text
    assert "2 entrants have no place yet." in made.text
    assert 'class="left-over"' in made.text
    assert "/draw/publish" not in made.text, "nothing is published while somebody has no place"
    chinese = chief.get(f"/events/{event_id}/rounds/3/draw", headers={"Accept-Language": "zh-CN"}).text
    assert f"1 {NAMES[0]} – 2 {NAMES[1]}：此前已相遇" in chinese
    assert f"1 {NAMES[0]} 对 2 {NAMES[1]}" in chinese


@pytest.mark.parametrize(
    ("kind", "a", "b", "fault"),
    [
        ("swap", "1", "x", "“x” is no number of an entrant."),
        ("swap", "1", "77", "Number 77 is not present in this round."),
        ("pair", "3", "3", "Type two different numbers."),
        ("sides", "1", "2", "These two do not meet each other."),
        ("dance", "1", "2", "Choose what to change."),
        ("unpair", "", "", "“” is no number of an entrant."),
    ],
)
def test_a_change_that_cannot_be_made_is_refused_in_words(
    platform: Platform, chief: Person, kind: str, a: str, b: str, fault: str
) -> None:
    event_id = drawn(platform)
    answer = edit(chief, event_id, 1, kind, a, b, reason="因为")
    assert answer.status_code == 422
    assert fault in answer.text
    assert 'value="因为"' in answer.text
    assert len(platform.admin.rounds.draws(event_id, 3)) == 1


def test_opponents_do_not_change_places_but_may_change_sides(platform: Platform, chief: Person) -> None:
    event_id = drawn(platform)
    first, second = pairs(platform, event_id, 1)[0]
    assert "These two meet each other already." in edit(chief, event_id, 1, "swap", str(first), str(second)).text
    assert edit(chief, event_id, 1, "sides", str(second), str(first)).ok
    assert pairs(platform, event_id, 2)[0] == (second, first)


def test_of_two_who_change_a_draft_the_second_is_told_who_was_first_and_decides(
    platform: Platform, chief: Person
) -> None:
    event_id = drawn(platform)
    other = meets(platform, event_id, 1)
    theirs = platform.admin.rounds.draw(event_id, 3, 1)
    platform.admin.rounds.edit_draw(event_id, 3, theirs, [{"kind": "sides", "entrants": [1, other]}])
    stale = edit(chief, event_id, 1, "swap", "1", "6", reason="我的理由")
    assert stale.status_code == 412
    assert "Somebody else changed this draft meanwhile: it is draft 2 now." in stale.text
    assert re.search(r"Theirs \(裁判长, \d\d:\d\d\): 1 陈一 gets the first side against", stale.text)
    assert f"Yours is not made: 1 {NAMES[0]} and 6 {NAMES[5]} change places." in stale.text
    assert 'value="我的理由"' in stale.text
    assert len(platform.admin.rounds.draws(event_id, 3)) == 2
    mine = edit(chief, event_id, 2, "swap", "1", "6", reason="我的理由")
    assert "The draft is changed." in mine.text
    assert frozenset((6, other)) in opponents(platform, event_id, 3)


def test_a_change_of_a_draft_that_was_accepted_meanwhile_is_a_conflict_too(platform: Platform, chief: Person) -> None:
    event_id = drawn(platform, needs_acceptance=True)
    platform.admin.rounds.accept(event_id, 3, platform.admin.rounds.draw(event_id, 3, 1))
    assert edit(chief, event_id, 1, "swap", "1", "6").status_code == 412
    assert len(platform.admin.rounds.draws(event_id, 3)) == 1


def test_one_goes_back_to_an_earlier_draft_sides_and_all(platform: Platform, chief: Person) -> None:
    event_id = drawn(platform)
    wanted = pairs(platform, event_id, 1)
    first, second = wanted[1]
    edit(chief, event_id, 1, "swap", "1", "6")
    edit(chief, event_id, 2, "sides", str(second), str(first))
    edit(chief, event_id, 3, "unpair", "7")
    page = chief.page(f"/events/{event_id}/rounds/3/draw")
    assert "Take back the last change" in page
    undone = chief.post(f"/events/{event_id}/rounds/3/draw/4/restore", version=1, to=3)
    assert "The draft is as draft 3 was." in undone.text
    assert sorted(pairs(platform, event_id, 5)) == sorted(pairs(platform, event_id, 3))
    assert chief.post(f"/events/{event_id}/rounds/3/draw/5/restore", version=1, to=1).ok
    assert sorted(pairs(platform, event_id, 6)) == sorted(wanted)
    assert chief.post(f"/events/{event_id}/rounds/3/draw/5/restore", version=1, to=1).status_code == 412


def test_pairs_from_paper_become_a_draft_and_bad_lines_are_named_and_kept(platform: Platform, chief: Person) -> None:
    event_id = platform.event(tournament(reported=4))
    address = f"/events/{event_id}/rounds/3/draw/by-hand"
    bad = chief.post(address, latest="0", pairs="1 3\n2 77\n1-4\n5 6 7")
    assert bad.status_code == 422
    for fault in (
        "Line 2: number 77 is not present in this round.",
        "Line 3: number 1 appears twice.",
        "Line 4: write two numbers, or one for the bye: 5 6 7",
    ):
        assert fault in bad.text
    assert "1 3\n2 77\n1-4\n5 6 7</textarea>" in bad.text
    assert platform.admin.rounds.draws(event_id, 3) == ()
    rematch = chief.post(address, latest="0", pairs="1 2\n3 5\n4 7\n6 8")
    assert rematch.status_code == 422
    assert f"1 {NAMES[0]} – 2 {NAMES[1]}: have met before" in rematch.text
    made = chief.post(address, latest="0", pairs="1 3\n２ ４\n5:7\n6–8", key="paper")
    assert "The draft is made." in made.text
    assert sorted(pairs(platform, event_id, 1)) == [(1, 3), (2, 4), (5, 7), (6, 8)]
    late = chief.post(address, latest="0", pairs="1 4\n2 3\n5 8\n6 7")
    assert late.status_code == 412, "a draft that was not seen is not replaced"
    assert "1 4\n2 3" in late.text
    published = chief.post(f"/events/{event_id}/rounds/3/draw/publish", version=1, number=1)
    assert "Round 3 is published." in published.text


def test_one_begins_with_everybody_unpaired_and_pairs_them_one_by_one(platform: Platform, chief: Person) -> None:
    event_id = platform.event(tournament(reported=4))
    page = chief.post(f"/events/{event_id}/rounds/3/draw/by-hand", latest="0", pairs="", pool="1").text
    assert page.count('<li><span data-pick="') == 8
    assert "8 entrants have no place yet." in page
    edit(chief, event_id, 1, "pair", "1", "3")
    page = edit(chief, event_id, 2, "bye", "8").text
    assert page.count('<li><span data-pick="') == 5
    assert f"8 {NAMES[7]}: has the bye although the number of entrants is even" in page


def test_a_draw_that_is_not_the_best_says_what_was_let_go_and_waits_for_acceptance(
    platform: Platform, chief: Person
) -> None:
    event_id = drawn(platform, needs_acceptance=True, relaxed=("sides", "score:2"))
    page = chief.page(f"/events/{event_id}/rounds/3/draw")
    assert "<li>the limits of sides</li>" in page
    assert "<li>up to 2 pairs of one score group across groups</li>" in page
    assert "must be accepted before it can be published" in page
    assert "/draw/publish" not in page
    address = f"/events/{event_id}/rounds/3/draw"
    early = chief.post(f"{address}/publish", version=1, number=1)
    assert early.status_code == 409
    accepted = chief.post(f"{address}/accept", version=1, number=1, sure="on")
    assert "Accepted by 裁判长" in accepted.text
    assert "/draw/publish" in accepted.text
    assert chief.post(f"{address}/accept", version=1, number=1).status_code == 412
    assert "Round 3 is published." in chief.post(f"{address}/publish", version=2, number=1).text


def test_an_earlier_draw_that_is_given_again_is_named_with_its_time(platform: Platform, chief: Person) -> None:
    event_id = drawn(platform)
    computed_draft(platform, event_id, 3, source=Source.REUSED, needs_acceptance=True)
    assert "This is draft 1 of " in chief.page(f"/events/{event_id}/rounds/3/draw")


def test_a_draw_that_failed_says_why_and_opens_pairing_by_hand(platform: Platform, chief: Person) -> None:
    event_id = platform.event(tournament(reported=4))
    job = platform.admin.rounds.ask_for_draw(event_id, 3)
    end(platform, job.id, JobState.FAILED, slug="solver-done", detail="The solver found no draw.")
    for person in (chief, referee(platform, event_id, Role.CHIEF_REFEREE)):
        page = person.page(f"/events/{event_id}/rounds/3/draw")
        assert "failed: The solver found no draw." in page
        assert "You can ask again, or pair this round by hand below." in page
        assert "There is no draft yet." not in page
        assert '<details class="panel" open>' in page
    end(platform, job.id, JobState.FAILED, slug="no-legal-draw", detail="There is no legal draw.")
    page = chief.page(f"/events/{event_id}/rounds/3/draw")
    assert "Asking again finds the same until something of this has changed." in page
    computed_draft(platform, event_id, 3)
    page = chief.page(f"/events/{event_id}/rounds/3/draw")
    assert "There is no legal draw." not in page, "what failed before there was a draft is no news"
    assert '<table id="draft"' in page
    assert '<details class="panel" open>' not in page


def end(platform: Platform, job_id: int, state: JobState, **outcome: str) -> None:
    ended = {"state": state, "outcome": outcome, "finished_at": sa.func.clock_timestamp()}
    platform.gateway.sql(sa.update(JobRow).where(JobRow.id == job_id).values(ended))


def test_a_job_that_ends_without_a_draw_beside_a_draft_is_told_above_it(platform: Platform, chief: Person) -> None:
    event_id = drawn(platform)
    address = f"/events/{event_id}/rounds/3/draw"
    for state, detail, what in (
        (JobState.FAILED, "The solver found no draw.", "You can ask again, or pair this round by hand below."),
        (JobState.CANCELLED, "Cancelled by 裁判长.", "You can ask again."),
        (JobState.SUPERSEDED, "The results or the field changed 20 times while this ran.", "You can ask again."),
    ):
        job = platform.admin.rounds.ask_for_draw(event_id, 3)
        end(platform, job.id, state, slug="x", detail=detail)
        page = chief.page(address)
        assert detail in page
        assert what in page
        assert '<table id="draft"' in page
    computed_draft(platform, event_id, 3)
    assert "while this ran" not in chief.page(address)


def test_whoever_opens_the_round_sees_how_far_its_draw_is(platform: Platform, chief: Person) -> None:
    event_id = platform.event(tournament(reported=4))
    address = f"/events/{event_id}/rounds/3/draw"
    asked = chief.post(address)
    assert "Waiting for the queue; it starts by itself." in asked.text
    other = referee(platform, event_id, Role.CHIEF_REFEREE)
    page = other.page(address)
    assert "The draw is being computed" in page
    assert re.search(r"waiting</strong> · \d+(\.\d)? s", page)
    assert "asked for by 裁判长" in page
    assert "There is no draft yet." not in page
    refresh = re.search(r'<noscript><meta http-equiv="refresh" content="5; url=([^"]+)"></noscript>', page)
    assert refresh
    assert refresh[1] == address
    progress = {"stage": "optimal", "elapsed_ms": 4200, "best": {"max_gap": 2, "cross_pairs": 3}, "entrants": 8}
    running = {"state": JobState.RUNNING, "progress": progress, "started_at": sa.func.clock_timestamp(), "attempts": 2}
    platform.gateway.sql(sa.update(JobRow).where(JobRow.event_id == event_id).values(running))
    page = other.page(address)
    for said in ("computing", "looking for the best · best so far: largest gap: 1 · 3 pairs", "2 attempts"):
        assert said in page, said
    assert "Waiting for the queue" not in page
    (look,) = re.findall(r'data-look="([^"]+)"', page)
    part = other.page(look)
    assert "<html" not in part
    assert 'id="how-far" data-active' in part
    assert "looking for the best · best so far" in part
    assert referee(platform, event_id).get(look).status_code == 403
    assert other.get(look.replace(f"/events/{event_id}/", f"/events/{platform.event()}/")).status_code in (403, 404)
    job_id = int(look.rsplit("/", 1)[1])
    end(platform, job_id, JobState.FAILED, slug="x", detail="It failed.")
    assert "data-active" not in other.page(look)
    assert "It failed." in other.page(address)


def test_while_a_draft_is_there_to_be_changed_the_page_does_not_go_on_by_itself(
    platform: Platform, chief: Person
) -> None:
    event_id = drawn(platform)
    page = chief.post(f"/events/{event_id}/rounds/3/draw").text
    assert "The draw is being computed" in page
    assert "http-equiv" not in page
    assert f'<a href="/events/{event_id}/rounds/3/draw">Look again</a>' in page


def test_the_list_for_paper_has_points_opponents_and_sides_of_everybody_present(
    platform: Platform, chief: Person
) -> None:
    event_id = platform.event(tournament(reported=4))
    lines = cells(chief.page(f"/events/{event_id}/rounds/3/draw/list"), "paper")
    assert [line[0] for line in lines] == ["2", "2", "1", "1", "1", "1", "0", "0"]
    assert lines[0][2:4] == ["2, 5", "RR"]
    unfinished = platform.event(tournament(reported=3))
    assert "cannot be drawn yet" in chief.page(f"/events/{unfinished}/rounds/3/draw/list")


def test_a_draft_of_card_teams_speaks_of_no_sides(platform: Platform, chief: Person) -> None:
    event_id = platform.event(tournament(profile="shengji", reported=4))
    computed_draft(platform, event_id, 3)
    pages = [chief.page(f"/events/{event_id}/rounds/3/draw"), edit(chief, event_id, 1, "swap", "1", "6", look="1").text]
    pages += [chief.page(f"/events/{event_id}/rounds/3/draw/list"), chief.page(f"/events/{event_id}/rounds/1/boards/1")]
    board = pages[-1]
    for name in (NAMES[0], NAMES[4]):  # who plays on board 1 of round 1: nobody has to guess who “first” is
        assert f"{name} wins</option>" in board
    entry = chief.page(f"/events/{event_id}/rounds/2/entry")
    assert "the left one wins" in entry
    chinese = [
        chief.get(f"/events/{event_id}/{path}", headers={"Accept-Language": "zh-CN"}).text
        for path in ("rounds/3/draw", "crosstable", "set-up/edit", "rounds/2/entry", "rounds/3/draws/1/why/1")
    ]
    for page in chinese:
        assert re.search("先手|先后手|执先|后手", page.split('<main id="main">')[1]) is None
    for page in pages:
        main = page.split('<main id="main">')[1].lower()
        assert "table" in main
        assert re.search(r">[^<]*\bside", main) is None


def test_drafts_are_for_the_chief_referee_only(platform: Platform) -> None:
    event_id = drawn(platform)
    person = referee(platform, event_id)
    assert person.get(f"/events/{event_id}/rounds/3/draw").status_code == 403
    assert edit(person, event_id, 1, "swap", "1", "6").status_code == 403
    form = {"version": "1", "to": "1"}
    assert person.post(f"/events/{event_id}/rounds/3/draw/1/restore", **form).status_code == 403
    assert person.post(f"/events/{event_id}/rounds/3/draw/by-hand", latest="1", pairs="1 2").status_code == 403
    assert len(platform.admin.rounds.draws(event_id, 3)) == 1


def test_each_row_of_a_draft_leads_to_why_in_words_of_three_languages(platform: Platform, chief: Person) -> None:
    event_id = drawn(platform)
    page = chief.page(f"/events/{event_id}/rounds/3/draw")
    firsts = [first for first, _second in pairs(platform, event_id, 1)]
    links = re.findall(rf'href="(/events/{event_id}/rounds/3/draws/1/why/(\d+))"', page)
    assert [int(number) for _link, number in links] == firsts
    told = {tag: chief.get(f"/events/{event_id}/rounds/3/draws/1/why/1", headers={"Accept-Language": tag}).text
            for tag in ("en", "zh-CN", "zh-TW")}  # fmt: skip
    for tag, met in (("en", "they met in round"), ("zh-CN", "轮已相遇"), ("zh-TW", "輪已相遇")):
        main = told[tag].split('<main id="main">')[1]
        assert NAMES[meets(platform, event_id, 1) - 1] in main
        assert met in main, tag
        assert "costs_more" not in main
        assert "needed_elsewhere" not in main
    assert "Red, because" in told["en"] or "Black, because" in told["en"]


def test_why_is_told_of_a_published_round_too_and_to_the_chief_referee_only(platform: Platform, chief: Person) -> None:
    event_id = drawn(platform)
    chief.post(f"/events/{event_id}/rounds/3/draw/publish", version=1, number=1)
    assert 'name="number"' in chief.page(f"/events/{event_id}/rounds/3/draw")
    found = chief.get(f"/events/{event_id}/rounds/3/why?number=1")
    assert found.url.endswith("/draws/1/why/1")
    assert "they met in round" in found.text
    assert "“x” is no number of an entrant." in chief.page(f"/events/{event_id}/rounds/3/why?number=x")
    assert chief.get(f"/events/{event_id}/rounds/3/why?number=77").status_code == 404
    assert referee(platform, event_id).get(f"/events/{event_id}/rounds/3/draws/1/why/1").status_code == 403


def test_where_sides_are_shown_they_are_called_by_their_names(platform: Platform, chief: Person) -> None:
    event_id = drawn(platform)
    page = chief.get(f"/events/{event_id}/rounds/3/draw", headers={"Accept-Language": "zh-CN"}).text
    assert "前一名执红</option>" in page
    assert "红在前" in page


def test_a_draft_and_the_list_on_paper_name_everybody_who_is_at_no_board(platform: Platform, chief: Person) -> None:
    event_id = platform.event(tournament(reported=4))
    ids = {one.number: one.id for one in platform.admin.entrants.list(event_id)}
    for number, kind in ((3, "full"), (6, "half"), (7, "half")):
        platform.admin.entrants.set_bye(event_id, 3, ids[number], kind)
    platform.admin.entrants.set_absent(event_id, 3, ids[8])
    computed_draft(platform, event_id, 3)
    for path in ("draw", "draw/list"):
        page = chief.page(f"/events/{event_id}/rounds/3/{path}")
        assert away(page) == {
            "full-point bye": [f"3 {NAMES[2]}"],
            "half-point bye": [f"6 {NAMES[5]}", f"7 {NAMES[6]}"],
            "absent": [f"8 {NAMES[7]}"],
        }, path


def test_a_stale_draft_is_praised_no_more_and_waits_for_nothing(platform: Platform, chief: Person) -> None:
    event_id = platform.event(tournament(reported=4))
    computed_draft(platform, event_id, 3, needs_acceptance=True)
    fresh = chief.page(f"/events/{event_id}/rounds/3/draw")
    assert "No other draw is better by the rules." in fresh
    assert "/draw/accept" in fresh
    one = platform.admin.entrants.list(event_id)[0]
    platform.admin.entrants.set_absent(event_id, 3, one.id)
    page = chief.page(f"/events/{event_id}/rounds/3/draw")
    assert "This draft cannot be published" in page
    assert "No other draw is better by the rules." not in page
    assert "/draw/accept" not in page


def test_who_published_first_is_named_with_a_time_for_people(platform: Platform, chief: Person) -> None:
    event_id = drawn(platform)
    for expected in (r"Round 3 is published\.", r"Round 3 was published already by 裁判长 \(\d\d-\d\d \d\d:\d\d\)\."):
        said = chief.post(f"/events/{event_id}/rounds/3/draw/publish", number="1", version="1").text
        assert re.search(expected, said)
    chief.page("/?lang=zh-Hans")
    said = chief.post(f"/events/{event_id}/rounds/3/draw/publish", number="1", version="1").text
    chief.page("/?lang=en")
    assert re.search(r"第 3 轮已由 裁判长 公布（\d\d-\d\d \d\d:\d\d）。", said)
    assert not re.search(r"\d\dT\d\d:", said)


def away(page: str) -> dict[str, list[str]]:
    """Who is at no board, by kind."""
    found = re.search(r'<dl class="away">(.*?)</dl>', page, re.S)
    assert found is not None
    parts = re.findall(r"<dt>(.*?)</dt>\s*<dd>(.*?)</dd>", found[1], re.S)
    plain = {kind: re.findall(r'<span class="no">(\d+)</span> (\S+?) <small>', who) for kind, who in parts}
    return {kind: [" ".join(one) for one in who] for kind, who in plain.items()}
