"""Typed client of the public API, used by the command line, the tests and the gateway's own pages."""

from qisai.client.client import Client
from qisai.client.draws import Drawing, DrawView, Job
from qisai.client.events import BulkChange, Entrant, Event, Imported, ImportReport, Lots, Profile
from qisai.client.explanations import Explanation
from qisai.client.operations import Alert, Breaker, QueueView, ServiceHealth, Worker
from qisai.client.people import Account, Grant, Invitation, Me, Offered, PasswordLink, Token, WebSession
from qisai.client.registration import Attendance, ForbiddenPair, OwnEntry, Transition
from qisai.client.rounds import (
    Adjustment,
    BoardLog,
    Boards,
    BoardView,
    ByeView,
    ClockView,
    Player,
    RoundView,
    Standings,
    StandingsRow,
)
from qisai.client.tables import Crosstable, CrosstableRow, History, HistoryRound, PrizeRow, PrizeTable, RoundCell
from qisai.client.transport import HttpTransport, Reply, Request, Transport

__all__ = [
    "Account", "Adjustment", "Alert", "Attendance", "BoardLog", "BoardView", "Boards", "Breaker", "BulkChange",
    "ByeView", "Client", "ClockView", "Crosstable", "CrosstableRow", "DrawView", "Drawing", "Entrant", "Event",
    "Explanation", "ForbiddenPair", "Grant", "History", "HistoryRound", "HttpTransport", "ImportReport", "Imported",
    "Invitation", "Job", "Lots", "Me", "Offered", "OwnEntry", "PasswordLink", "Player", "PrizeRow", "PrizeTable",
    "Profile", "QueueView", "Reply", "Request", "RoundCell", "RoundView", "ServiceHealth", "Standings", "StandingsRow",
    "Token", "Transition", "Transport", "WebSession", "Worker",
]  # fmt: skip
