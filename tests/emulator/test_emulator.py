"""An emulator starts and stops like a file, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import gc
import inspect
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from odradek import ConfigError, Emulator, Error, ManualClock, Refused
from odradek.emulator.embedded.embedded import Embedded
from odradek.storage.disk.directory import Directory

from tests.requests.produce import batch, produce
from tests.support.cluster import client_of


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def answers(address: str) -> bool:
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host.strip("[]"), int(port)), timeout=30) as sock:
        sock.sendall(bytes.fromhex("0000000a 0012 0000 00000001 ffff"))
        return len(sock.recv(4096)) > 10


def test_it_serves_between_enter_and_exit() -> None:
    with Emulator() as kafka:
        address = kafka.bootstrap_servers
        assert answers(address)
    with pytest.raises(ConnectionRefusedError):
        answers(address)


def test_a_report_shows_where_it_is() -> None:
    kafka = Emulator()
    assert repr(kafka) == "<Emulator, not running>"
    with kafka:
        assert repr(kafka) == f"<Emulator at {kafka.bootstrap_servers}>"
    assert repr(kafka) == "<Emulator, not running>"


def test_it_leaves_no_thread_file_or_directory_behind() -> None:
    with Emulator() as kafka:  # what is imported and opened once is not counted
        kafka.create_topic("warm")
    gc.collect()
    threads, files = threading.active_count(), open_files()
    for _ in range(3):
        with Emulator(topics={"t": 4}) as kafka:
            directory = kafka.data_dir
            assert directory.exists()
            assert answers(kafka.bootstrap_servers)
        assert not directory.exists()
    gc.collect()
    assert threading.active_count() == threads
    assert open_files() == files


def test_many_at_once_have_ports_and_directories_of_their_own() -> None:
    emulators = [Emulator(topics={f"t{n}": 1}).start() for n in range(8)]
    try:
        assert len({kafka.bootstrap_servers for kafka in emulators}) == 8
        assert len({kafka.data_dir for kafka in emulators}) == 8
        assert [kafka.topics() for kafka in emulators] == [[f"t{n}"] for n in range(8)]
    finally:
        for kafka in emulators:
            kafka.stop()


def test_async_with() -> None:
    async def run() -> str:
        async with Emulator() as kafka:
            reader, writer = await asyncio.open_connection(*kafka.bootstrap_servers.rsplit(":", 1))
            writer.write(bytes.fromhex("0000000a 0012 0000 00000001 ffff"))
            assert len(await reader.read(4096)) > 10
            writer.close()
            await writer.wait_closed()
            return kafka.bootstrap_servers

    before = threading.active_count()
    address = asyncio.run(run())
    assert threading.active_count() == before
    with pytest.raises(ConnectionRefusedError):
        answers(address)


def test_a_named_directory_survives(tmp_path: Path) -> None:
    with Emulator(data_dir=tmp_path / "data", topics={"t": 3}) as kafka:
        kafka.create_topic("u", configs={"cleanup.policy": "compact"})
        cluster_id = kafka.cluster.cluster_id
    with Emulator(data_dir=tmp_path / "data", topics={"t": 3}) as kafka:
        assert kafka.topics() == ["t", "u"]
        assert len(kafka.topic("t")) == 3
        assert kafka.cluster.cluster_id == cluster_id
        assert kafka.run(lambda cluster: cluster.topic("u").config.is_compacted)


@pytest.mark.parametrize("kept", [False, True])
def test_only_a_directory_that_stays_is_closed_cleanly(
    tmp_path: Path, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    with Emulator(topics={"t": 3}, data_dir=tmp_path if kept else None):
        write = Directory.write_atomic
        monkeypatch.setattr(
            Directory,
            "write_atomic",
            lambda self, name, data: (written.append(name), write(self, name, data)),
        )
    assert (".kafka_cleanshutdown" in written) == kept == bool(written)


def test_a_relative_directory_stays_where_it_was_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with Emulator(data_dir="data", topics={"t": 1}) as kafka:
        monkeypatch.chdir(tmp_path / "elsewhere")
        kafka.create_topic("u")
        assert Path(kafka.data_dir) == tmp_path / "data"
    assert (tmp_path / "data" / ".kafka_cleanshutdown").exists()
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_directory_has_one_owner(tmp_path: Path) -> None:
    with Emulator(data_dir=tmp_path), pytest.raises(Exception, match=str(tmp_path)):
        Emulator(data_dir=tmp_path).start()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0", "::1"])
def test_it_listens_where_it_is_asked_to(host: str) -> None:
    with Emulator(host=host) as kafka:
        assert answers(kafka.bootstrap_servers)


def test_clients_learn_the_advertised_address() -> None:
    with Emulator(advertised="kafka.example:19092") as kafka:
        assert kafka.bootstrap_servers == "kafka.example:19092"


def test_a_port_in_use_is_refused_by_name() -> None:
    with Emulator() as kafka:
        port = int(kafka.bootstrap_servers.rsplit(":", 1)[1])
        with pytest.raises(OSError, match=f"cannot listen on 127.0.0.1:{port}"):
            Emulator(port=port).start()
    assert threading.active_count() >= 1


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"no.such.config": "1"}, "no.such.config"),
        ({"num.partitions": "many"}, "num.partitions"),
        ({"num.partitions": 0}, "num.partitions"),
        ({"auto.create.topics.enable": "perhaps"}, "auto.create.topics.enable"),
    ],
)
def test_a_wrong_config_is_refused_by_name(config: dict[str, str], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        Emulator(config)


@pytest.mark.parametrize("port", [-1, 65536, 70000])
def test_a_port_that_is_none_is_refused(port: int) -> None:
    with pytest.raises(ValueError, match=str(port)):
        Emulator(port=port)


@pytest.mark.parametrize("address", ["kafka", "kafka:", "kafka:0", ":9092", "kafka:65536"])
def test_an_advertised_address_needs_host_and_port(address: str) -> None:
    with pytest.raises(ValueError, match="HOST:PORT"):
        Emulator(advertised=address)


def test_a_topic_that_is_there_with_other_partitions_is_refused_by_name(tmp_path: Path) -> None:
    with Emulator(data_dir=tmp_path, topics={"orders": 3}):
        pass
    with pytest.raises(Refused, match="orders is there and has 3 partitions, not 5"):
        Emulator(data_dir=tmp_path, topics={"orders": 5}).start()


def test_a_failed_start_leaves_no_thread() -> None:
    before = threading.active_count()
    with pytest.raises(Refused):
        Emulator(topics={"t": 0}).start()
    assert threading.active_count() == before


def test_a_cancelled_start_stops_the_broker() -> None:
    async def run(kafka: Emulator) -> None:
        task = asyncio.ensure_future(kafka.__aenter__())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    before = threading.active_count()
    kafka = Emulator()
    asyncio.run(run(kafka))
    assert threading.active_count() == before
    with kafka:
        assert answers(kafka.bootstrap_servers)


def test_a_verb_that_races_with_stop_ends() -> None:
    kafka = Emulator().start()
    ended = []

    def ask_until_it_stops() -> None:
        while True:
            kafka.run(lambda cluster: cluster.cluster_id)

    def ask() -> None:
        with pytest.raises(RuntimeError, match=r"stopped meanwhile|not running"):
            ask_until_it_stops()
        ended.append(True)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    kafka.stop()
    for thread in threads:
        thread.join(30)
    assert len(ended) == 8


def test_a_fork_that_ends_leaves_the_directory_to_its_owner() -> None:
    with Emulator(topics={"t": 1}) as kafka:
        code = "import os,sys; from odradek.emulator import Emulator; kafka = Emulator().start();"
        code += "child = os.fork(); child or sys.exit(0); os.waitpid(child, 0);"
        code += "data = kafka.data_dir; print(data.exists()); kafka.stop(); print(data.exists())"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.stdout.split() == ["True", "False"], done.stderr
        assert kafka.data_dir.exists()


def test_a_stop_in_the_brokers_own_thread_is_refused() -> None:
    with Emulator(topics={"t": 1}) as kafka:
        with pytest.raises(RuntimeError, match="stop it from another one"):
            kafka.run(lambda cluster: kafka.stop())
        assert kafka.topics() == ["t"]


def test_a_stop_during_a_start_waits_for_its_end() -> None:
    before = set(threading.enumerate())  # of which some may end
    kafka = Emulator(topics={"t": 3000})
    starting = threading.Thread(target=kafka.start)
    starting.start()
    while kafka._thread is None:
        time.sleep(0)
    kafka.stop()
    starting.join(30)
    assert set(threading.enumerate()) <= before
    with kafka:
        assert kafka.topics() == ["t"]


def test_several_stops_wait_for_the_same_end() -> None:
    kafka = Emulator().start()
    address = kafka.bootstrap_servers
    threads = [threading.Thread(target=kafka.stop) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    with pytest.raises(ConnectionRefusedError):
        answers(address)
    kafka.stop()


def test_a_broker_stopped_by_a_signal_handler_while_it_starts() -> None:
    code = """
import signal, time
from odradek.emulator import Emulator

def stop(*_):
    if kafka._thread is not None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        kafka.stop()
        print("stopped")

kafka = Emulator(topics={"t": 2000})
signal.signal(signal.SIGALRM, stop)
signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
kafka.start()
while kafka._thread is not None:
    time.sleep(0.01)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "stopped\n", "")


def test_lists_are_given_as_lists() -> None:
    with Emulator() as kafka:
        topic = kafka.create_topic("t", configs={"cleanup.policy": ["compact", "delete"]})
        policy = kafka.run(lambda cluster: cluster.topic(topic.name).config.cleanup_policy)
        assert policy == {"compact", "delete"}


def test_what_needs_a_running_broker_says_so() -> None:
    kafka = Emulator()
    with pytest.raises(RuntimeError, match="not running"):
        _ = kafka.bootstrap_servers
    with kafka, pytest.raises(RuntimeError, match="running already"):
        kafka.start()
    kafka.stop()


def test_verbs_on_topics() -> None:
    with Emulator() as kafka:
        orders = kafka.create_topic("orders", partitions=2)
        assert (len(orders), orders[0].records(), orders[1].log_end_offset) == (2, [], 0)
        with pytest.raises(IndexError, match="no partition 2"):
            orders[2]
        with pytest.raises(Refused, match="already exists") as refused:
            kafka.create_topic("orders")
        assert refused.value.error is Error.TOPIC_ALREADY_EXISTS
        orders.produce_all(["a", "b"])
        topic_id = kafka.run(lambda cluster: cluster.topic("orders").id)
        again = kafka.recreate_topic("orders", configs={"retention.ms": 1})
        assert (again.values(), len(again)) == ([], 2)
        assert kafka.run(lambda cluster: cluster.topic("orders").id) != topic_id
        assert len(kafka.recreate_topic("orders", partitions=3)) == 3
        events = [event.kind for event in kafka.events if event.kind.startswith("topic")]
        assert events == ["topic created", *2 * ["topic deleted", "topic created"]]
        kafka.delete_topic("orders")
        assert kafka.topics() == []
        for refused_now in (kafka.topic, kafka.delete_topic, kafka.recreate_topic):
            with pytest.raises(Refused, match="orders"):
                refused_now("orders")


def test_a_manual_clock_is_advanced_by_hand() -> None:
    clock = ManualClock(1_000)
    with Emulator(clock=clock) as kafka:
        kafka.advance(0.5)
        assert clock.now() == 1_500


def test_a_manual_clock_begins_at_the_time_that_clients_stamp_their_records_with() -> None:
    stamped = batch(b"x", time=int(time.time() * 1000))
    with Emulator(clock=ManualClock(), topics={"t": 1}) as kafka:
        answer = kafka.run(lambda cluster: produce(client_of(cluster), stamped))
    assert answer.error_code == 0


def test_without_uvloop_it_runs_on_plain_asyncio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)
    with Emulator(topics={"t": 1}) as kafka:
        assert kafka.run(lambda _: type(asyncio.get_running_loop()).__module__).startswith(
            "asyncio"
        )
        assert answers(kafka.bootstrap_servers)


def test_topics_are_a_mapping_or_a_list_of_names() -> None:
    with Emulator(topics=["orders", "payments"]) as kafka:
        assert kafka.topics() == ["orders", "payments"]
        assert len(kafka["payments"]) == 1
        assert ("payments" in kafka, "refunds" in kafka) == (True, False)
        assert [*kafka] == kafka.topics()
        assert kafka.bootstrap_servers == f"{kafka.host}:{kafka.port}"
    with pytest.raises(TypeError, match="name -> number of partitions, or a list of names, not 5"):
        Emulator(topics=5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="the name of a topic in topics is a str, not 5"):
        Emulator(topics=[5])  # type: ignore[list-item]


def test_the_broker_alone_serves_no_schemas_and_says_so() -> None:
    with Embedded(topics={"t": 1}) as broker:
        assert broker.run(lambda cluster: [topic.name for topic in cluster.topics]) == ["t"]
    with pytest.raises(TypeError, match="schema_registry"):
        Embedded(schema_registry=True)  # type: ignore[call-arg]
    ours, own = (inspect.signature(each).parameters for each in (Emulator, Embedded))
    assert {name: each for name, each in ours.items() if name != "schema_registry"} == dict(own)
