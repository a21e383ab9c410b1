"""No legal draw: the refusal says why as data and in words, and its proof holds."""

import json
import random

import pytest

from qisai.kernel import NoLegalDraw, pair_round
from qisai.kernel.model import ForbiddenPair
from qisai.kernel.pairing.field import compile_field
from qisai.kernel.pairing.no_legal_draw import no_legal_draw
from qisai.kernel.tournament_file import parse_tournament
from tests.kernel.random_tournaments import random_tournament
from tests.kernel.short_events import event

STAGES = ["optimal", "search"]


def refusal(tournament, stage="optimal"):
    with pytest.raises(NoLegalDraw) as refused:
        pair_round(tournament, stage=stage)
    assert refused.value.slug == "no-legal-draw"
    json.dumps(refused.value.context)
    return refused.value


@pytest.mark.parametrize("stage", STAGES)
def test_everyone_has_met_everyone(stage):
    refused = refusal(event(4, "1=2 3=4", "1=3 2=4", "1=4 2=3"), stage)
    assert refused.reason["without_partner"] == [1, 2, 3, 4]
    assert refused.reason["missing"] == 4
    assert "Nobody is left for 1, 2, 3, 4" in refused.detail


@pytest.mark.parametrize("stage", STAGES)
def test_odd_field_without_byes_suggests_a_house_player(stage):
    refused = refusal(event(3, allow_bye=False), stage)
    assert refused.reason["kind"] == "byes_off"
    assert refused.reason["would_help"] == [{"constraint": "allow_bye", "alone": True, "count": 0}]
    assert "house player" in refused.detail


def test_too_many_who_have_only_few_to_meet():
    # 1, 2, 3 and 4 may meet only 5 and 6.
    family = [ForbiddenPair(entrants=(a, b)) for a in range(1, 5) for b in range(a + 1, 5)]
    reason = refusal(event(6, forbidden=family)).reason
    assert reason["clusters"] == [[1], [2], [3], [4]]
    assert reason["needed"] == [5, 6]
    assert reason["missing"] == 2
    assert reason["without_partner"] == []
    (way,) = reason["would_help"]
    assert (way["constraint"], way["alone"], way["count"]) == ("forbidden", True, 6)
    assert way["pairs"] == [[1, 2], [1, 3], [1, 4], [2, 3], [2, 4], [3, 4]]


def test_lifting_one_named_pair_is_enough_where_two_stay_over():
    family = [ForbiddenPair(entrants=(a, b)) for a in range(1, 5) for b in range(a + 1, 5)]
    for pair in refusal(event(6, forbidden=family)).reason["would_help"][0]["pairs"]:
        kept = [ban for ban in family if list(ban.entrants) != pair]
        assert pair_round(event(6, forbidden=kept)).boards


def test_two_odd_camps_that_have_met_the_other():
    # 1 2 3 against 4 5 6: every game between the camps is played.
    tournament = event(6, "1=4 2=5 3=6", "1=5 2=6 3=4", "1=6 2=4 3=5")
    reason = refusal(tournament).reason
    assert sorted(map(sorted, reason["clusters"])) == [[1, 2, 3], [4, 5, 6]]
    assert reason["needed"] == []
    (way,) = reason["would_help"]
    assert (way["constraint"], way["alone"], way["count"]) == ("rematch", True, 9)


def test_the_bye_can_be_what_stands_in_the_way():
    # Only 5 had neither bye nor forfeit win, so 5 must have it, and 1 to 4 have all met.
    tournament = event(5, "1=2 3=4 5A", "1=3 2=4 5A", "1=4 2=3 5A", "1F 2F 3F 4F 5A")
    reason = refusal(tournament).reason
    constraints = {way["constraint"]: way for way in reason["would_help"]}
    assert "rematch" in constraints
    assert constraints["rematch"]["alone"]


def test_giving_the_bye_out_of_turn_is_named_where_it_helps():
    # 3 must have the bye by rule 4, but 1 and 2 have met; 3 has met nobody.
    tournament = event(3, "1=2 3A", "1F 2F 3Z")
    reason = refusal(tournament).reason
    constraints = {way["constraint"]: way for way in reason["would_help"]}
    assert constraints["bye"]["entrants"] == [1, 2]
    assert constraints["bye"]["alone"]
    assert "bye out of turn to 1, 2" in no_legal_draw(compile_field(tournament)).detail


def test_asking_why_where_a_draw_exists_is_a_mistake():
    with pytest.raises(ValueError, match="has a legal draw"):
        no_legal_draw(compile_field(event(4)))


def test_the_proof_holds_on_random_fields():
    proofs = 0
    for seed in range(1200):
        field = compile_field(parse_tournament(random_tournament(random.Random(seed), smallest=4)))
        try:
            refused = no_legal_draw(field)
        except ValueError:
            continue
        if refused.reason["kind"] == "byes_off":
            continue
        proofs += 1
        assert_proof(field, refused.reason)
    assert proofs > 20


def assert_proof(field, reason):
    """More odd clusters than needed ones, and no legal pair between two clusters: so no draw can exist."""
    clusters, needed = reason["clusters"], reason["needed"]
    assert len(clusters) - len(needed) == reason["missing"] > 0
    assert all(len(cluster) % 2 == 1 for cluster in clusters)
    at = {number: index for index, number in enumerate(field.number)}
    everybody = {*field.number, *(["bye"] if field.odd else [])}
    for cluster in clusters:
        outside = everybody - set(cluster) - set(needed)
        assert not any(may_meet(field, at, one, other) for one in cluster for other in outside)


def may_meet(field, at, one, other):
    if "bye" in (one, other):
        return field.bye_eligible[at[other if one == "bye" else one]]
    return at[other] not in field.barred[at[one]]


def test_lists_of_pairs_are_cut_but_counted():
    camp = [ForbiddenPair(entrants=(a, b)) for a in range(1, 31) for b in range(a + 1, 31)]
    (way,) = refusal(event(40, forbidden=camp)).reason["would_help"]
    assert way["count"] == 30 * 29 // 2
    assert len(way["pairs"]) == 50
