"""A guest: it logs in at the listener that is attacked, asks for something, and leaves, again and
again. It measures how long that takes."""

from __future__ import annotations

import socket
import ssl
import statistics
import threading
import time

from tests.security.secured import log_in_on
from tests.support.sockets import api_versions, receive

USER = "alice"
"""Whose password is the same word."""
PAUSE_S = 0.02
_PATIENCE_S = 60.0
_USUAL = 50


class Guest(threading.Thread):
    """Goes on until `finish`; `failure` is what went wrong."""

    def __init__(self, address: tuple[str, int], listener: str) -> None:
        super().__init__(daemon=True)
        self._address = address
        self._has_sasl = listener.startswith("SASL")
        self._tls = trusting() if listener.endswith("SSL") else None
        self._over = threading.Event()
        self._began = 0.0
        self.failure: BaseException | None = None
        self.usual_s = sorted(self._visit() for _ in range(_USUAL))
        self.under_attack_s: list[float] = []

    def run(self) -> None:
        try:
            while not self._over.wait(PAUSE_S):
                self._began = time.monotonic()
                self.under_attack_s.append(self._visit())
                self._began = 0.0
        except BaseException as error:
            self.failure = error

    def waits_s(self) -> float:
        """How long the visit lasts that goes on."""
        began = self._began
        return time.monotonic() - began if began else 0.0

    def finish(self, limit_s: float) -> None:
        """End it. Raises what went wrong; TimeoutError if its visit lasts longer."""
        self._over.set()
        self.join(limit_s)
        if self.failure is not None:
            raise self.failure
        if self.is_alive():
            raise TimeoutError(f"no answer for {self.waits_s():.0f} s")

    def __str__(self) -> str:
        usual, late = _percentiles(self.usual_s), _percentiles(sorted(self.under_attack_s))
        visits = len(self.under_attack_s)
        return f"a guest is served in {usual} usually, in {late} now ({visits} visits)"

    def _visit(self) -> float:
        """How long it took."""
        begin = time.monotonic()
        connection = socket.create_connection(self._address, timeout=_PATIENCE_S)
        if self._tls is not None:
            connection = self._tls.wrap_socket(connection, server_hostname="localhost")
        with connection:
            if self._has_sasl:
                log_in_on(connection, USER)
            connection.sendall(api_versions())
            answer = receive(connection)
            assert answer, "the connection was closed"
        return time.monotonic() - begin


def trusting() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _percentiles(times: list[float]) -> str:
    """Median, that of which 99 of 100 are below, and the longest."""
    if not times:
        return "?"
    high = times[min(len(times) - 1, len(times) * 99 // 100)]
    found = (statistics.median(times), high, times[-1])
    return "/".join(f"{each * 1000:.0f}" for each in found) + " ms"
