"""A TCP proxy that breaks connections as networks do: refuses them, cuts them, lets bytes stand still."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
from dataclasses import dataclass


@dataclass(slots=True)
class Cut:
    """Cuts one connection at a word that the client says after another one: before it is passed on, or after."""

    after: bytes
    at: bytes
    passed_on: bool
    """True: the server hears the word, and the client never hears the answer."""
    times: int = 1
    happened: int = 0


class Proxy:
    """Passes on what comes to `port` to `target`, a port of this machine, until told otherwise."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.refused = 0
        """Connections turned away, or begun while everything stood still."""
        self.cut: Cut | None = None
        self._open = threading.Event()
        self._open.set()
        self._ended = threading.Event()
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port: int = self._listener.getsockname()[1]
        self._refusing = False
        threading.Thread(target=self._accept, name=f"proxy-{self.port}", daemon=True).start()

    def refuse(self) -> None:
        """From now on nobody listens, as far as clients can see: new connections are reset, open ones too."""
        self._refusing = True
        self.cut_all()

    def stall(self) -> None:
        """From now on bytes stand still in both directions; connections stay open and new ones are taken."""
        self._open.clear()

    def restore(self) -> None:
        """Works again. What stood still goes on."""
        self.cut = None
        self._refusing = False
        self._open.set()

    def cut_all(self) -> int:
        """Resets all open connections; how many there were."""
        with self._lock:
            pairs = list(self._pairs)
        for pair in pairs:
            self._drop(pair)
        return len(pairs)

    def close(self) -> None:
        """Ends the proxy."""
        self._ended.set()
        self._open.set()
        self._listener.close()
        self.cut_all()

    def _accept(self) -> None:
        while not self._ended.is_set():
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self._refusing:
                self.refused += 1
                _reset(client)
                continue
            if not self._open.is_set():
                self.refused += 1
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self.target), timeout=5)
        except OSError:
            self.refused += 1
            _reset(client)
            return
        pair = (client, server)
        with self._lock:
            self._pairs.add(pair)
        heard = b""
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(client, selectors.EVENT_READ, server)
                selector.register(server, selectors.EVENT_READ, client)
                while True:
                    self._open.wait()
                    for key, _ in selector.select(timeout=0.5):
                        self._open.wait()
                        data = key.fileobj.recv(1 << 16)  # type: ignore[union-attr]
                        if not data:
                            return
                        if key.fileobj is client:
                            heard = b"" if self.cut is None else (heard + data)[-(1 << 20) :]
                            if self._cuts(heard, data):
                                if self.cut is not None and self.cut.passed_on:
                                    server.sendall(data)
                                    server.recv(1)  # the server has done it
                                return
                        key.data.sendall(data)
        except (OSError, ValueError):
            return
        finally:
            self._drop(pair)

    def _cuts(self, heard: bytes, data: bytes) -> bool:
        cut = self.cut
        if cut is None or cut.happened >= cut.times or cut.at not in data:
            return False
        if heard.rfind(cut.after) < 0:
            return False
        cut.happened += 1
        return True

    def _drop(self, pair: tuple[socket.socket, socket.socket]) -> None:
        with self._lock:
            self._pairs.discard(pair)
        for one in pair:
            _reset(one)


def _reset(connection: socket.socket) -> None:
    """Closes so that the other side sees it at once, also in a read that another thread began here."""
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    with contextlib.suppress(OSError):
        connection.close()
