"""What `inter.broker.protocol.version` and `message.format.version` may name before 3.0.

A release knows the versions of this table up to its own. `2.4` is the newest of its line; what
follows the second number, or the third in versions that begin with 0, is not looked at: `2.4.1` is
2.4. Source: ApiVersion of Kafka 0.10.2 to 2.8.
"""

from __future__ import annotations

_TABLE = """
0.8.0 0.8.1 0.8.2 0.9.0
0.10.0-IV0 0.10.0-IV1 0.10.1-IV0 0.10.1-IV1 0.10.1-IV2 0.10.2-IV0
0.11.0-IV0 0.11.0-IV1 0.11.0-IV2 1.0-IV0 1.1-IV0 2.0-IV0 2.0-IV1 2.1-IV0 2.1-IV1 2.1-IV2
2.2-IV0 2.2-IV1 2.3-IV0 2.3-IV1 2.4-IV0 2.4-IV1 2.5-IV0 2.6-IV0 2.7-IV0 2.7-IV1 2.7-IV2
2.8-IV0 2.8-IV1
"""
_NAMES = _TABLE.split()
_PLACES = {name: place for place, name in enumerate(_NAMES)}
_PLACES |= {name.partition("-")[0]: place for place, name in enumerate(_NAMES)}
FORMATS = {2: "0.11.0", 1: "0.10.0", 0: "0.8.0"}
"""The format of messages, the newest first, and the line of versions that brought it."""
_BEGIN = {2: _PLACES["0.11.0-IV0"], 1: _PLACES["0.10.0-IV0"], 0: 0}


def place_of(text: str) -> int | None:
    """Where a version stands among the others, from 0; None if there is no such version."""
    return _PLACES.get(".".join(text.split(".")[: 3 if text.startswith("0.") else 2]))


def is_known(text: str, newest: str) -> bool:
    """Whether a release whose own version is `newest` knows this one."""
    place = place_of(text)
    return place is not None and place <= _PLACES[newest]


def magic_of(text: str) -> int | None:
    """The format of messages in a version; None if there is no such version."""
    place = place_of(text)
    if place is None:
        return None
    return next(magic for magic, first in _BEGIN.items() if first <= place)
