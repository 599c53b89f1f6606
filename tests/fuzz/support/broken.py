"""`python -m tests.fuzz.support.broken serve ...`: `odradek serve` with the defect that the
environment variable FAULT names. Most show when DescribeAcls is asked, some when somebody connects.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from odradek.compat.cli.main import main
from odradek.emulator.base.call import NO_REPLY, PARKED
from odradek.emulator.embedded.embedded import Embedded
from odradek.emulator.handlers.registry import SERVED
from odradek.emulator.net.protocol import ClientProtocol
from odradek.wire.api.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from odradek.wire.api.heartbeat import HeartbeatRequest, HeartbeatResponse

from tests.fuzz.polite import NAME

FAULTS: dict[str, Callable[..., Any]] = {}
HOARD: list[bytearray] = []
CAME: list[None] = []
MOST = 300
"""Connections until what is wrong with them shows: after those of a guest before an attack."""
stop = Embedded.stop
connection_made = ClientProtocol.connection_made


def fault(function: Callable[..., Any]) -> Callable[..., Any]:
    """Registers a defect under the function's name."""
    FAULTS[function.__name__] = function
    return function


# Handlers


@fault
def raises(cluster: Any, call: Any, request: Any) -> Any:
    raise RuntimeError("broken")


@fault
def hangs(cluster: Any, call: Any, request: Any) -> Any:
    return PARKED


@fault
def does_not_answer(cluster: Any, call: Any, request: Any) -> Any:
    return NO_REPLY


@fault
def answers_too_much(cluster: Any, call: Any, request: Any) -> Any:
    call.connection._transport.send([b"\0\0\0\x08\x7f\0\0\0\0\0\0\0"])
    return NO_REPLY


@fault
def dies(cluster: Any, call: Any, request: Any) -> Any:
    os._exit(3)


@fault
def hoards(cluster: Any, call: Any, request: Any) -> Any:
    HOARD.append(bytearray(b"x") * (300 << 20))
    return NO_REPLY


@fault
def stalls(cluster: Any, call: Any, request: Any) -> Any:
    asyncio.get_running_loop().call_later(0.05, time.sleep, 5)
    return DescribeAclsResponse(error_message=None, resources=[])


@fault
def job_fails(cluster: Any, call: Any, request: Any) -> Any:
    def job() -> Iterator[None]:
        yield
        raise RuntimeError("broken job")

    cluster.turns.add(job())
    return NO_REPLY


@fault
def task_fails(cluster: Any, call: Any, request: Any) -> Any:
    async def task() -> None:
        raise RuntimeError("broken task")

    asyncio.get_running_loop().create_task(task())
    return NO_REPLY


@fault
def lies(cluster: Any, call: Any, request: Any) -> Any:
    """In place of the handler of Heartbeat."""
    return HeartbeatResponse(error_code=25)


# Connections


@fault
def keeps_descriptors(protocol: ClientProtocol, transport: Any) -> None:
    connection_made(protocol, transport)
    os.dup(protocol.descriptor)


@fault
def turns_clients_away(protocol: ClientProtocol, transport: Any) -> None:
    connection_made(protocol, transport)
    CAME.append(None)
    if len(CAME) > MOST:
        transport.abort()


@fault
def is_held_up(protocol: ClientProtocol, transport: Any) -> None:
    connection_made(protocol, transport)
    CAME.append(None)
    if len(CAME) == MOST:
        time.sleep(8)


CONNECTIONS = (keeps_descriptors, turns_clients_away, is_held_up)


# Ends


@fault
def does_not_stop(emulator: Embedded) -> None:
    time.sleep(60)


@fault
def stops_badly(emulator: Embedded) -> None:
    stop(emulator)
    raise RuntimeError("stopped badly")


@fault
def damages(emulator: Embedded) -> None:
    """A byte of a record is another."""
    path = _segment(emulator)
    stop(emulator)
    data = bytearray(path.read_bytes())
    data[-2] ^= 1
    path.write_bytes(data)


@fault
def forgets(emulator: Embedded) -> None:
    """The last batch is missing."""
    path = _segment(emulator)
    stop(emulator)
    data = path.read_bytes()
    path.write_bytes(data[: -(12 + int.from_bytes(data[8:12], "big"))])


@fault
def cannot_start_again(emulator: Embedded) -> None:
    path = _segment(emulator).parents[1] / "meta.properties"
    stop(emulator)
    path.write_text("version=9\n")


def _segment(emulator: Embedded) -> Path:
    return emulator.data_dir / f"{NAME}-0" / f"{0:020}.log"


ENDS = (does_not_stop, stops_badly, damages, forgets, cannot_start_again)


def broken() -> int:
    """The command."""
    chosen = FAULTS[os.environ["FAULT"]]
    if chosen in ENDS:
        Embedded.stop = chosen  # type: ignore[method-assign]
    elif chosen in CONNECTIONS:
        ClientProtocol.connection_made = chosen  # type: ignore[method-assign]
    else:
        api = HeartbeatRequest if chosen is lies else DescribeAclsRequest
        SERVED[api.api_key].handler = chosen
    return main()


if __name__ == "__main__":
    sys.exit(broken())
