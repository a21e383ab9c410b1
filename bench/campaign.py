"""Ten thousand simulated tournaments, every draw judged: `make campaign` (`python -m bench.campaign --help`).

Each tournament (2 to 200 entrants, both systems, all settings, byes, absences, withdrawals, returns, forfeits, void and
adjourned games, late entries, forbidden pairs) is played by `qisai.kernel.simulation` to its end. Every draw must be
free of `violations` and of breaches found by the tests' judge, which shares no code with the kernel. Where the kernel
says that no legal draw exists, the judge must say so too: by trying all draws of a small field, by a maximum matching
of the legal graph in any. A draw for which look-ahead promised a continuation may not lead into a dead end while the
pool stays as it was. Ends with 1 if anything failed; `--seed S --tournaments 1` plays the tournament of one seed again.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from qisai.errors import QisaiError
from qisai.kernel import pair_round
from qisai.kernel.check import violations
from qisai.kernel.draw_file import draw_to_json
from qisai.kernel.model import (
    Direction,
    Draw,
    FirstRound,
    FirstRoundMode,
    ForbiddenPair,
    LookAhead,
    Points,
    Regulations,
    SidePriority,
    System,
    Tournament,
    WithinGroup,
)
from qisai.kernel.simulation import Plan, open_event, play_round
from qisai.kernel.tournament_file import tournament_to_json
from tests.kernel.oracle import Event, breaches, has_legal_draw, legal_draws, read
from tests.kernel.oracle.event import OVER_THE_BOARD

Pair = Callable[[Tournament], Draw]

EXHAUSTIVE = 9
"""Up to so many present entrants a dead end is confirmed by trying every draw."""
SIZES = ((0.55, 2, 12), (0.27, 13, 40), (0.14, 41, 100), (0.04, 101, 200))
"""Share of tournaments with so many entrants: most are small, because small fields run dry."""


@dataclass(slots=True)
class Outcome:
    """What one tournament came to. `failures` in words; empty is a pass."""

    seed: int
    entrants: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


def play_one(seed: int, *, largest: int = 200, pair: Pair = pair_round) -> Outcome:
    """Play the tournament of this seed to its last round or its dead end, judging every draw."""
    plan, forbidden = make_plan(random.Random(seed), largest=largest)
    outcome = Outcome(seed, plan.entrants)
    tournament = open_event(plan)
    known = {entrant.number for entrant in tournament.entrants}
    tournament = replace(tournament, forbidden_pairs=tuple(ban for ban in forbidden if known.issuperset(ban.entrants)))
    promised: frozenset[int] | None = None
    for number in range(1, plan.rounds + 1):
        event = read(tournament_to_json(tournament))
        try:
            draw = pair(tournament)
        except QisaiError as refused:
            outcome.counts["dead ends"] += 1
            judge_refusal(outcome, event, refused, promised=promised)
            break
        judge_draw(outcome, event, tournament, draw)
        if outcome.failures:
            break
        tournament = play_round(plan, tournament, draw)
        promised = _promise(tournament, draw, event)
        outcome.counts[f"rounds with look-ahead {draw.look_ahead.value}"] += 1
        outcome.counts["rounds"] += 1
        outcome.counts["boards"] += len(draw.boards)
        outcome.counts["finished"] += number == plan.rounds
    return outcome


def judge_draw(outcome: Outcome, event: Event, tournament: Tournament, draw: Draw) -> None:
    """Rules 1 to 4, by the kernel's check and by the judge; the reports of both go to the outcome."""
    where = f"round {event.round}"
    outcome.failures += [f"{where}: violation: {found.detail}" for found in violations(tournament, draw)]
    outcome.failures += [f"{where}: judge: {found}" for found in breaches(event, draw_to_json(draw))]
    if not draw.optimal:
        outcome.counts["draws not proven optimal"] += 1


def judge_refusal(outcome: Outcome, event: Event, refused: QisaiError, *, promised: frozenset[int] | None) -> None:
    """Whether a refusal was right: no legal draw at all, and none that look-ahead had promised."""
    where = f"round {event.round}"
    if refused.slug != "no-legal-draw":
        outcome.failures.append(f"{where}: refused with {refused.slug}: {refused.detail}")
    elif has_legal_draw(event):
        outcome.failures.append(f"{where}: refused, but a maximum matching pairs everybody")
    elif len(event.present) <= EXHAUSTIVE:
        outcome.counts["dead ends confirmed by trying every draw"] += 1
        if next(legal_draws(event), None) is not None:
            outcome.failures.append(f"{where}: refused, but {next(legal_draws(event))} is legal")
    if promised == frozenset(event.present) == frozenset(event.not_withdrawn):
        outcome.failures.append(f"{where}: dead end although look-ahead promised a continuation for this very pool")


def _promise(tournament: Tournament, draw: Draw, event: Event) -> frozenset[int] | None:
    """The pool for which look-ahead found a continuation; None where it did not, or where a game was not played."""
    results = {board.result for board in tournament.rounds[-1].boards}
    kept = draw.look_ahead is not LookAhead.NONE and results.issubset(OVER_THE_BOARD)
    return frozenset(event.not_withdrawn) if kept else None


def make_plan(rng: random.Random, *, largest: int) -> tuple[Plan, list[ForbiddenPair]]:
    """A whole event at random: size, rounds, rates, settings, and pairs that must not meet."""
    _, low, high = rng.choices(SIZES, weights=[share for share, _, _ in SIZES])[0]
    entrants = rng.randint(min(low, largest), min(high, largest))
    rounds = rng.randint(1, max(1, min(9, entrants)))
    calm, troubled = rng.random() < 0.3, rng.random() < 0.2

    def rate(usual: float) -> float:
        return 0.0 if calm else usual * (4 if troubled else 1) * rng.random()

    plan = Plan(
        entrants=entrants,
        rounds=rounds,
        seed=rng.getrandbits(32),
        absent=rate(0.08),
        half_bye=rate(0.04),
        zero_bye=rate(0.03),
        full_bye=rate(0.02),
        withdraw=rate(0.06),
        returning=rate(0.2),
        forfeit=rate(0.08),
        void=rate(0.03),
        adjourned=rate(0.03),
        late=rate(0.15),
        regulations=_regulations(rng),
    )
    count = rng.choice([0, 0, 0, 1, 2, entrants // 2])
    return plan, [_forbidden(rng, entrants, rounds) for _ in range(count)]


def _forbidden(rng: random.Random, entrants: int, rounds: int) -> ForbiddenPair:
    a, b = sorted(rng.sample(range(1, entrants + 1), 2))
    start = rng.randint(1, rounds)
    return ForbiddenPair(entrants=(a, b), from_round=start, to_round=rng.choice([None, rng.randint(start, rounds)]))


def _regulations(rng: random.Random) -> Regulations:
    system = rng.choice([System.SCORE_GROUP, System.SCORE_GROUP, System.DRAW_NUMBER])
    win, draw = rng.choice([(2, 1), (4, 2), (6, 2)])
    return Regulations(
        system=system,
        direction=rng.choice(list(Direction)),
        within_group=rng.choice(list(WithinGroup)),
        first_move=rng.random() < 0.8,
        balance_sides=rng.random() < 0.9,
        seat_balance=rng.random() < 0.3,
        side_priority=rng.choice(list(SidePriority)),
        first_round=FirstRound(mode=rng.choice(list(FirstRoundMode)), avoid_same_club=rng.random() < 0.3),
        lot_seed=rng.getrandbits(20),
        points=Points(win=win, draw=draw, bye=rng.choice([win, draw])),
        forfeit_counts_as_met=rng.random() < 0.2,
    )


def outcomes(seeds: Iterable[int], *, largest: int, workers: int) -> Iterator[Outcome]:
    """Play all seeds on so many processes, in whatever order they finish."""
    play = partial(play_one, largest=largest)
    if workers == 1:
        yield from map(play, seeds)
        return
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        yield from pool.imap_unordered(play, seeds, chunksize=8)


def main(arguments: list[str] | None = None) -> int:
    """Play, print progress and a summary; 1 if anything failed."""
    parser = argparse.ArgumentParser(description="simulate tournaments and judge every draw")
    parser.add_argument("--tournaments", type=int, default=10_000)
    parser.add_argument(
        "--seed", type=int, default=0, help="first seed; each tournament has its own, one after another"
    )
    parser.add_argument("--largest", type=int, default=200, help="most entrants of a tournament")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    seeds = range(options.seed, options.seed + options.tournaments)
    total: Counter[str] = Counter()
    failed: list[Outcome] = []
    begun = time.monotonic()
    step = max(1, options.tournaments // 20)
    for done, outcome in enumerate(outcomes(seeds, largest=options.largest, workers=options.workers), start=1):
        total.update(outcome.counts)
        total["entrants"] += outcome.entrants
        if outcome.failures:
            failed.append(outcome)
            print(f"FAILED seed {outcome.seed}: " + "; ".join(outcome.failures), flush=True)
        if done % step == 0:
            print(
                f"{done:>6} of {options.tournaments}, {len(failed)} failed, {time.monotonic() - begun:.0f} s",
                flush=True,
            )
    print(f"\n{options.tournaments} tournaments in {time.monotonic() - begun:.0f} s on {options.workers} processes")
    for name, count in sorted(total.items()):
        print(f"{count:>10} {name}")
    print(
        f"{len(failed):>10} tournaments failed" + (f": seeds {[outcome.seed for outcome in failed]}" if failed else "")
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
