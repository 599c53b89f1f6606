"""A process that forks while it runs a broker: the child has none, and takes nothing with it."""

from __future__ import annotations

import pytest

from tests.hostile.support.script import run

FORKED = """
import os, signal, sys
from odradek.emulator import Emulator

kafka = Emulator(topics={"t": 1})
kafka.start()
child = os.fork()
if child == 0:
    signal.alarm(3)  # ends what hangs
    CHILD
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(status, kafka.data_dir.exists(), kafka.topics())
kafka.stop()
"""


def test_a_child_that_stops_leaves_its_parent_everything() -> None:
    assert run(FORKED.replace("CHILD", "kafka.stop(); os._exit(0)")) == "0 True ['t']\n"


ENDS = {
    "sys.exit": "sys.exit()",
    "os._exit": "os._exit(0)",
    "an error": "raise SystemExit(0) from ValueError()",
    "the end of with": "kafka.__exit__(None, None, None); sys.exit()",
    "collected": "del kafka; import gc; gc.collect(); sys.exit()",
    "another broker": "Emulator().start(); sys.exit()",
}


@pytest.mark.parametrize("how", ENDS)
def test_a_child_that_ends_leaves_its_parent_everything(how: str) -> None:
    assert run(FORKED.replace("CHILD", ENDS[how])) == "0 True ['t']\n"


def test_a_worker_of_multiprocessing_leaves_its_parent_everything() -> None:
    script = """
import multiprocessing
from odradek.emulator import Emulator

def work(_):
    try:
        return kafka.topics()
    except RuntimeError as error:
        return "fork" in str(error)

with Emulator(topics={"t": 1}) as kafka:
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(work, range(2)))
    print(kafka.data_dir.exists(), kafka.topics())
"""
    assert run(script) == "[True, True]\nTrue ['t']\n"


CALLS = """
    view = TopicView(kafka._session.source, "t")
    for call in [
        kafka.start,
        kafka.__enter__,
        kafka.topics,
        kafka.compact,
        lambda: view[0].records(),
        lambda: kafka.run(lambda cluster: None),
        lambda: kafka.cluster,
        lambda: kafka.notices,
        lambda: kafka.create_topic("u"),
        lambda: kafka.delete_topic("t"),
        lambda: kafka.topic("t"),
        lambda: kafka.advance(1),
    ]:
        try:
            call()
        except RuntimeError as error:
            print("forked" in str(error), flush=True)
    os._exit(0)
"""


def test_every_call_from_a_child_says_so() -> None:
    script = "from odradek.emulator import TopicView" + FORKED.replace("    CHILD", CALLS)
    assert run(script) == 12 * "True\n" + "0 True ['t']\n"


def test_a_client_in_a_child_is_served_by_its_parents_broker() -> None:
    client = """
    import socket
    host, port = kafka.bootstrap_servers.split(":")
    client = socket.create_connection((host, int(port)), 3)
    client.sendall(bytes.fromhex("0000000a 0012 0000 00000001 ffff"))
    print(len(client.recv(4096)) > 10, flush=True)
    os._exit(0)
"""
    assert run(FORKED.replace("    CHILD", client)) == "True\n0 True ['t']\n"


@pytest.mark.parametrize("uvloop", [True, False])
def test_a_child_keeps_no_connection_and_no_port_of_a_broker_that_ends(uvloop: bool) -> None:
    script = """
import os, signal, socket, sys
UVLOOP
from odradek.emulator import Emulator

kafka = Emulator().start()
host, port = kafka.bootstrap_servers.split(":")
client = socket.create_connection((host, int(port)), 5)
client.sendall(bytes.fromhex("0000000a 0012 0000 00000001 ffff"))
assert client.recv(4096)
child = os.fork()
if child == 0:
    signal.alarm(20)
    signal.pause()
kafka.stop()
print(client.recv(1))
try:
    socket.create_connection((host, int(port)), 5)
except ConnectionRefusedError:
    print("refused")
with Emulator(port=int(port)) as again:
    print(again.bootstrap_servers == f"{host}:{port}")
os.kill(child, signal.SIGKILL)
os.waitpid(child, 0)
"""
    message = "" if uvloop else "sys.modules['uvloop'] = None"
    assert run(script.replace("UVLOOP", message)) == "b''\nrefused\nTrue\n"
