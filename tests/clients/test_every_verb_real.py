"""Every verb of the shell against a real Kafka and against ours, in one order: the same output.

What has to differ is masked, and named in MASKS. Columns are compared without their widths, which
follow what is masked.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer
from odradek import Emulator
from odradek.compat import RealKafka
from odradek.compat.cli.console.client import Brokers
from odradek.compat.cli.main import main
from odradek.wire.api.init_producer_id import InitProducerIdRequest
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.records import build_batch

from tests.support.clock import NOW
from tests.support.written import record

pytestmark = [pytest.mark.real, pytest.mark.slow]

CONFIG = {
    "log.retention.ms": "-1",
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
    "transaction.partition.verification.enable": "false",  # else nothing can be made to hang
}
MASKS = {
    "the port": (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
    "when it was committed": (r"committed \d{4}-[\d:T-]+", "committed WHEN"),
    "the timestamp of a record that the broker wrote": (
        r"(__\w+\", .*?\"timestamp\": )\d+",
        r"\1WHEN",
    ),
    "the time of a record that a broker wrote, in a table": (
        r"(\d+ \d+) \d{4}-\d\d-\d\dT[\d:.]+ (offset of|group|transactional id)",
        r"\1 WHEN \2",
    ),
    "when a producer wrote last, and began": (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\b", "WHEN"),
    "those times in JSON": (r'"(last_time|started)": \d{13}', r'"\1": WHEN'),
    "a producer's id, of a block that the controller gave to the broker": (
        r'("producer": |\bproducer |^t\d? |PRODUCER )\d+',
        r"\1ID",
    ),
    "a producer's id, in a table": (r"^(orders \d|made \d|hangs \d) \d+ ", r"\1 ID "),
}
AT = f"--timestamp {NOW}"
WORDS = '\'{"id": {seq}, "in": {city}}\''
HANG = "HANG"  # a transaction that no coordinator knows of
OPEN = "OPEN"  # one that its producer leaves open

# Those that begin with an exclamation mark are refused.
TABLE = f"""
topics create orders -p 3 -c segment.ms=7000
topics create made --partitions 1
topics
topics ls --json
topics ls --internal --json
topics describe orders
topics show orders made --json
produce orders {AT} -K : --null NULL -H n=1 LINES
produce orders {AT} -z zstd -p 2 --generate 5 {WORDS} --seed 1 --key '{{seq}}'
produce made {AT} --acks 1 --copies 2 LINES
records orders
records orders --json
records orders --last 3
records orders --from -1 --format '%t-%p@%o %k=%s\\n'
records orders --from 1 --to 3 -p 2
records orders --where .id>2 --format raw
records orders --from 99
records orders --from 2999-01-01
records orders -p 2 -s hex -n 1
records orders -g billing
records orders -g billing
groups
groups --json
groups show billing
groups describe billing --json
records __consumer_offsets --key billing --value committed
groups reset billing --to -1 --dry-run
groups reset billing --to -1 --topic orders
groups show billing
groups reset billing --to latest --topic orders:1
groups --json
groups forget billing --topic orders:1
groups show billing
groups rm billing
groups
topics grow orders -p 4
! topics grow orders -p 2
topics show orders
configs topic orders --set retention.ms=60000 --unset segment.ms
configs topic orders
configs topic orders --json
! configs topic orders --set retention.ms=soon
! configs topic orders --set retention.mss=5
configs group billing --set consumer.session.timeout.ms=50000
configs group billing --json
configs broker --set log.flush.interval.ms=5000
configs broker --json
configs broker --unset log.flush.interval.ms
configs broker
brokers
brokers list --json
brokers partitions orders
brokers partitions --json
brokers partitions --under-replicated
brokers elect orders:0
brokers elect --all
brokers lead orders:0 --by 1
! brokers lead orders:0 --by 2
brokers reassign orders --to 1
! brokers reassign orders --to 2
! brokers cancel orders
users add alice --password secret
users add alice --password secret --mechanism SCRAM-SHA-512 --iterations 8192
users add bob --password secret
users
users list alice --json
users rm alice --mechanism SCRAM-SHA-256
! users rm alise
users rm alice bob
users
quotas set --user alice producer_byte_rate=1000 request_percentage=12.5
quotas set --user alice --client-id app consumer_byte_rate=500
quotas set producer_byte_rate=7 --client-id
quotas set --ip 10.0.0.7 connection_creation_rate=3
quotas
quotas list --user alice --json
quotas rm --user alice request_percentage
! quotas rm --user alice request_percentage
quotas rm --user alice
quotas
acls
acls add 'alice may READ,DESCRIBE topic orders' 'everyone may not WRITE topics or*'
acls add --allow-principal User:bob --consumer --topic in --group billing --allow-host 10.0.0.7
acls
acls list --topic orders --json
acls list --topic orders --resource-pattern-type match
acls list --principal bob --operation READ
! acls rm 'alice may WRITE topic orders'
acls rm 'alice may READ topic orders'
acls
produce made {AT} -k k --transactional-id t LINES
transactions
transactions list --json
transactions show t
transactions show t --json
! transactions show tt
transactions producers made:0
transactions producers made --json
transactions hanging
! transactions abort t
{OPEN}
transactions
transactions show t2
records made --committed
transactions abort t2
transactions show t2
records made --committed --format '%s\\n'
topics create hangs -p 1
{HANG}
transactions hanging
transactions hanging hangs --json
records hangs --committed
transactions abort --topic hangs:0 --start-offset 0
! transactions abort --topic hangs:0 --start-offset 0
transactions hanging
records hangs
records hangs --committed
records __transaction_state --key 't$' --format '%k: %s\\n'
top --times 1 --json
health
health --json
! produce nope LINES
! records nope
! topics show order
! topics create orders
! topics create 'no name'
! topics rm nope
! groups show nope
! groups rm nope
! configs topic nope
topics empty orders
topics show orders
topics rm orders made hangs
topics
"""
STEPS = [line for line in TABLE.splitlines() if line]
Side = Callable[[str], str]


@pytest.fixture(scope="module")
def addresses() -> Iterator[tuple[str, str]]:
    """A real Kafka's and an emulator's."""
    with RealKafka(config=CONFIG) as real, Emulator(CONFIG) as ours:
        yield real.bootstrap_servers, ours.bootstrap_servers


def masked(text: str) -> list[str]:
    lines = [" ".join(line.split()) for line in text.splitlines()]
    for found, instead in MASKS.values():
        lines = [re.sub(found, instead, line) for line in lines]
    return lines


def leave_open(address: str) -> Producer:
    """A transaction of `t2`, with a record in `made`."""
    producer = Producer({"bootstrap.servers": address, "transactional.id": "t2"})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce("made", b"left open", timestamp=NOW, partition=0)
    producer.flush()
    return producer


def make_hang(address: str) -> None:
    """A transactional batch in `hangs`, whose transaction was never begun."""
    with Brokers(address) as brokers:
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
        new = brokers.ask(request, most=4)
        batch = build_batch(
            [record(b"hangs")],
            producer_id=new.producer_id,
            producer_epoch=new.producer_epoch,
            base_sequence=0,
            transactional=True,
        )
        data = ProduceRequest.Topic.Partition(index=0, records=batch)
        topic = ProduceRequest.Topic(name="hangs", partition_data=[data])
        sent = ProduceRequest(
            transactional_id="never", acks=-1, timeout_ms=10_000, topic_data=[topic]
        )
        (result,) = brokers.ask(sent, most=9).responses[0].partition_responses
        assert result.error_code == 0


def test_every_verb_says_the_same(
    addresses: tuple[str, str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    lines = tmp_path / "lines"
    lines.write_text("a:one\nb:two\nc:NULL\n")
    left_open = []
    differences = []
    for step in STEPS:
        if step == OPEN:
            left_open += map(leave_open, addresses)
            continue
        if step == HANG:
            for address in addresses:
                make_hang(address)
            continue
        fails = step.startswith("! ")
        view, *arguments = shlex.split(step.removeprefix("! ").replace("LINES", str(lines)))
        said = []
        for address in addresses:
            status = main([view, address, *arguments])
            assert status == fails, (step, capsys.readouterr())
            out = capsys.readouterr()
            said.append([f"status {status}", *masked(out.out), *masked(out.err)])
        if said[0] != said[1]:
            theirs, ours = ("\n  ".join(each) for each in said)
            differences.append(f"{step}\n real:\n  {theirs}\n ours:\n  {ours}")
    assert not differences, "\n".join(differences)


def test_every_verb_and_action_is_in_the_table() -> None:
    from odradek.compat.cli.console.command import VIEWS

    used = {step.removeprefix("! ").split()[0] for step in STEPS}
    assert used - {OPEN, HANG} == set(VIEWS)
