"""Ports for servers of our own: between choosing one and listening there, nobody else gets it."""

from __future__ import annotations

import socket
import subprocess
import sys

from qisai.local.ports import free_port, is_free

ELSEWHERE = """
import sys
from qisai.errors import Unavailable
from qisai.local import ports
port = int(sys.argv[1])
ports._RANGE = (port, port + 1)
try:
    print(ports.free_port())
except Unavailable as none:
    print(none.slug)
"""


def given_elsewhere(port: int) -> str:
    """What another process gets that may choose this port only."""
    command = [sys.executable, "-c", ELSEWHERE, str(port)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_a_port_that_was_given_is_not_given_again_and_its_server_listens_there_as_often_as_it_starts() -> None:
    port = free_port()
    assert is_free(port), "nothing listens yet"
    assert given_elsewhere(port) == "no-free-port"
    for _start in range(2):
        with socket.create_server(("127.0.0.1", port)):
            assert not is_free(port)
            assert given_elsewhere(port) == "no-free-port"


def test_a_port_whose_holder_ended_is_free_again() -> None:
    port = int(subprocess.run(
        [sys.executable, "-c", "from qisai.local.ports import free_port; print(free_port())"],
        check=True, capture_output=True, text=True,
    ).stdout)  # fmt: skip
    assert given_elsewhere(port) == str(port)
