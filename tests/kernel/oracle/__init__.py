"""An independent judge of the pairing kernel, for small fields: written from docs/rules.md and the file forms alone.

It takes `qisai.tournament/1` as a plain dict, enumerates every legal draw of the next round, works out the whole cost
of each as section 4 words it, and names the best. It shares no function with the kernel and imports nothing of it;
clarity comes before speed everywhere. A draw is `Draw(pairs, bye)` with each pair as (smaller, larger number).

Where the rules leave a doubt, this is the reading taken here (each line one doubt):

- `within_group` is not looked at under `draw_number`: its order comes from the direction alone.
- Round 1 in a mode other than `system` orders its single group as section 5 says, so "places" (criterion 11) count in
  that order, and the bye leaves the last one only when no legal draw gives it the bye.
- A round-1 `system` draw of `score_group` uses number order and `within_group`.
- `club_pairs` is part of the tuple only in round 1 with `avoid_same_club`, in every mode; no club is no shared club.
- An adjourned game was played: it counts as met, gives a side, a seat, and is no "unplayed round"; it scores a draw.
- The exception of criterion 3 for leaders in the last round stops a pair from counting as a breach; sides (6.1) are
  still given by the limits themselves.
- 6.1 decides only when the numbers of entrants outside differ (0 against more, or 1 against 2); else 6.2 follows.
- 6.4 compares the lists only as far back as both go; "it is odd" and "it is even" both speak of the smaller number.
- `seat_balance` counts seats of games over the board and adjourned ones; in round 1 nobody sat anywhere yet.
- A group is given order 13's places among floaters separately for each pair of groups, in each group's own order.
- Floats look at pairing scores, with adjourned games as draws, also for the rounds before.
- The bye counts of rule 4 are pairing byes, full-point byes and forfeit wins; nothing that is asked for ahead.
- Rule 4 is strict: if none of those with the fewest can have the bye, there is no legal draw.
- "Not withdrawn" in a later round q means `withdrawn_from` is null or beyond q; the limit of 12 is counted for the
  round to be drawn and includes entrants who are absent or have a requested bye in it.
- Look-ahead is over rules 1 to 4 only, so it supposes byes even where `allow_bye` is off; a round in which everybody
  will have withdrawn has no legal draw; a full-point bye asked for in this round counts as one in later rounds.
- Look-ahead is `none` in the last round, where `rounds` is null, beyond 12 entrants, and where no draw continues.
- With `allow_bye` off an odd field (one entrant included) is refused.
- `bye` points not given are the win's points, also under a named profile when `win` is given.
- A fixed pair that loses its board to a higher pair joins the rest in its place of the order and tries no other fixed
  board; scores in the order of boards are pairing scores.
- A forbidden pair without `to_round` holds to the end, without `from_round` from round 1.
"""

from tests.kernel.oracle.best import Answer, best_draw
from tests.kernel.oracle.boards import seated_boards
from tests.kernel.oracle.criteria import cost, cross_cap
from tests.kernel.oracle.event import Event, read
from tests.kernel.oracle.legality import Draw, breaches, has_legal_draw, legal_draws

__all__ = [
    "Answer",
    "Draw",
    "Event",
    "best_draw",
    "breaches",
    "cost",
    "cross_cap",
    "has_legal_draw",
    "legal_draws",
    "read",
    "seated_boards",
]
