"""Cases of how many connections there may be: of a listener, of an address, and in all."""

from __future__ import annotations

import time
from collections.abc import Sequence

from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.describe_configs import DescribeConfigsRequest

from tests.requests.configs import change_request

from .brokers import FEW, FEW_CONNECTIONS, LIMITED_CONNECTIONS, OFTEN
from .talk import SILENCE_S, Case, Open, Talk, came_from

_VERSIONS = ApiVersionsRequest(client_software_name="app", client_software_version="1")
_SET, _DELETE = 0, 1
_BROKER = 4
_MOST = "max.connections"
_PATIENCE_S = 30.0


def _asks(talk: Talk) -> None:
    talk.send(_VERSIONS, 3)


def _hears(talk: Talk, *, waits: bool = False) -> str:
    """What comes: an answer, the end of the connection, or nothing."""
    said = talk.said
    if talk.read(SILENCE_S if waits else _PATIENCE_S) is not None:
        return "answered"
    return said.pop()


def _asked(talks: Sequence[Talk], silent: int = 0) -> list[str]:
    """What comes on each after it has asked; on so many of the last nothing may come."""
    for talk in talks:
        _asks(talk)
    first = len(talks) - silent
    return [_hears(talk, waits=n >= first) for n, talk in enumerate(talks)]


def _of_a_listener(opened: Open) -> list[str]:
    talks = [opened("LIMITED") for _ in range(LIMITED_CONNECTIONS + 2)]
    said = _asked(talks, silent=2)
    talks[0].close()
    said.append(_hears(talks[-2]))
    said.append(_hears(talks[-1], waits=True))
    return said


def _of_an_address(opened: Open) -> list[str]:
    said = _asked([opened(came_from("PLAINTEXT", FEW)) for _ in range(FEW_CONNECTIONS + 1)])
    return [*said, *_asked([opened("PLAINTEXT")])]


def _too_often(opened: Open) -> list[str]:
    """How many are answered before depends on how fast they come."""
    said = _asked([opened(came_from("PLAINTEXT", OFTEN)) for _ in range(30)])
    return [said[0], said[-1], *_asked([opened("PLAINTEXT")])]


def _in_all(opened: Open) -> list[str]:
    """The listener PLAINTEXT is that of the brokers."""
    root = opened("PLAINTEXT")
    _alter(root, _MOST, "3")
    try:
        others = [opened("SASL") for _ in range(3)]
        said = _asked(others, silent=1)
        second = opened("PLAINTEXT")
        said += _asked([second])
        is_closed = "closed" in [_hears(talk, waits=True) for talk in others]
        said.append(f"one of the others is closed: {is_closed}")
        second.close()
    finally:
        _alter(root, _MOST, None)
    return [*root.said, *said]


def _no_number(opened: Open) -> list[str]:
    root = opened("PLAINTEXT")
    _alter(root, "listener.name.limited.max.connections", "many")
    _alter(root, _MOST, "0")
    return root.said


def _alter(root: Talk, name: str, value: str | None) -> None:
    """Set a config of the broker, or delete it, and wait until it is in force."""
    operation = _SET if value is not None else _DELETE
    answer = root.ask(change_request((_BROKER, "1", [(name, operation, value)])), 1)
    deadline = time.monotonic() + _PATIENCE_S
    while not answer.responses[0].error_code and _is_set(root, name, value) != (value is not None):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _is_set(root: Talk, name: str, value: str | None) -> bool:
    asked = DescribeConfigsRequest.Resource(
        resource_type=_BROKER, resource_name="1", configuration_keys=[name]
    )
    answer = root.ask(DescribeConfigsRequest(resources=[asked], include_synonyms=True), 4)
    root.said.pop()
    (found,) = answer.results[0].configs
    return any(each.source == 2 for each in found.synonyms)  # set at run time for this broker


LIMITS: dict[str, Case] = {
    "more connections than a listener may have": _of_a_listener,
    "more connections than an address may have": _of_an_address,
    "connections of an address that come too often": _too_often,
    "a number of connections that is none": _no_number,
}
ALONE: dict[str, Case] = {"more connections than a broker may have": _in_all}
"""Nobody else is connected meanwhile."""
