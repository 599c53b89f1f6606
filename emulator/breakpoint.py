"""Breakpoints: while a person looks around in a debugger, no time passes for brokers."""

from __future__ import annotations

from contextlib import suppress

from .broker_thread import BrokerThread, running_here
from .cluster import Cluster

_paused: list[BrokerThread] = []


def pause_all() -> None:
    """Let no time pass for any broker of this process, until `resume_all`."""
    for thread in running_here():
        # One that ends just now; one whose clock is a user's own.
        with suppress(RuntimeError, TypeError):
            thread.call(Cluster.hold_clock)
            _paused.append(thread)


def resume_all() -> None:
    """Let time pass again for those that were paused."""
    while _paused:
        with suppress(RuntimeError):  # it was stopped meanwhile
            _paused.pop().call(Cluster.release_clock)
