"""The engine: a sequence goes to both brokers step by step, and their answers are compared.

The two are kept in lockstep. After a step each side's answers are gathered until both sides have
the same ones; the slower side gets `GRACE_S` once the other has answered, and only when both are
silent for the step's limit there is no answer. So a slow machine makes a run slow, not wrong, and
"no answer", "closed" and "late" (side.py) are outcomes like any other.

A real broker's catalogue is older than its answers for a moment (semantics I18): after a request
that may have changed it, the next step waits until both brokers say the same (settle/).

A sequence ends at the first step with a difference that is not allowed.
"""

from __future__ import annotations

import secrets
import select
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from odradek.emulator.base.release import KAFKA_4_3, Release
from odradek.wire import Request, Response
from odradek.wire.api.alter_client_quotas import AlterClientQuotasRequest
from odradek.wire.api.alter_configs import AlterConfigsRequest
from odradek.wire.api.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.create_partitions import CreatePartitionsRequest
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.end_txn import EndTxnRequest
from odradek.wire.api.incremental_alter_configs import IncrementalAlterConfigsRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.api.update_features import UpdateFeaturesRequest
from odradek.wire.headers import RequestHeader, write_request_header

from ..allowed import Allowances, allowances_for, hashed_lists
from ..ask.consumer_groups import SETTLED_S
from ..ask.streams_groups import NO_INTERNAL
from ..settle.settler import RESTART_S, Settler
from .brokers import Broker
from .compare import NOTHING, Comparison, Difference
from .kept import keep
from .normalize import Normalizer
from .results import Finding, Result, StepLog, api_name
from .said import contradictions
from .served import Served
from .side import CLOSED, Arrived, Asked, Key, Side, late_answers
from .steps import Ask, Close, Raw, Restart, Sequence, Sleep, Step, World

GRACE_S = 5.0
QUIET_S = 0.004

# Requests after which the engine waits until both brokers say the same, by what they change.
_MAY_CHANGE_TOPICS = (
    MetadataRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    CreatePartitionsRequest,
)
_MAY_CHANGE_CONFIGS = (AlterConfigsRequest, IncrementalAlterConfigsRequest)
_MAY_CHANGE_CLUSTER = (
    AlterClientQuotasRequest,
    AlterUserScramCredentialsRequest,
    UpdateFeaturesRequest,
)
_MAY_END_TRANSACTIONS = (InitProducerIdRequest, EndTxnRequest)


class Recorder(Protocol):
    """Who writes down what is sent to the first broker, and what that answers."""

    def begin(self, run: SequenceRun) -> None:
        """A sequence begins."""

    def step(self, step: Step) -> None:
        """Its next step begins."""

    def sent(self, on: str, what: str, data: bytes) -> None:
        """A frame, or bytes, of the connection of that name."""

    def arrived(self, key: Key, arrived: Arrived) -> None:
        """An answer, which belongs to the step that began last."""

    def end(self, run: SequenceRun) -> None:
        """The sequence is over."""


class Engine:
    """Two running brokers, and the counts so far. What the first answers is right."""

    settler: Settler
    quiet_s = QUIET_S
    """How long both sides must have had nothing new while answers are outstanding."""
    recorder: Recorder | None = None
    times_answers = True
    """Whether an answer that comes late is a difference."""

    def __init__(
        self,
        real: Broker,
        ours: Broker,
        allowances: Allowances | None = None,
        release: Release = KAFKA_4_3,
    ) -> None:
        self.sides = (Side(real), Side(ours))
        self.served = Served.of(self.sides, release)
        self.allowances = allowances or allowances_for(self.served, release)
        self.warm_up()
        self.sequences = self.requests = self.fields = 0
        self._prefix = f"d{secrets.token_hex(3)}"  # several engines may use one broker

    def run(self, sequence: Sequence) -> Result:
        """Run a sequence under fresh names, to its end or its first difference."""
        self.sequences += 1
        namespace = f"{self._prefix}x{self.sequences:05d}-"
        return self.follow(self.runner(self, sequence, namespace))

    def follow(self, run: SequenceRun) -> Result:
        if self.recorder is not None:
            self.recorder.begin(run)
        try:
            run.run()
            if self.recorder is not None:
                self.recorder.end(run)
        finally:
            for side in self.sides:
                side.close_all()
                side.arrived.clear()
            self.ended(run)
        self.requests += run.result.requests
        self.fields += run.result.fields
        return run.result

    @property
    def runner(self) -> type[SequenceRun]:
        """What runs a sequence."""
        return SequenceRun

    def warm_up(self) -> None:
        """Wait until both are ready to be compared."""
        self.settler = Settler(self.sides, self.served)

    def ended(self, run: SequenceRun) -> None:
        """A sequence has been run."""

    def restart(self, is_killed: bool = False) -> None:
        """Restart both brokers, and wait until they answer as before."""
        for side in self.sides:
            side.close_all()
            if is_killed:
                side.broker.kill()
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda side: side.broker.restart(), self.sides))
        self.settler.warm_up()


class SequenceRun:
    def __init__(
        self, engine: Engine, sequence: Sequence, namespace: str, now_ms: int | None = None
    ) -> None:
        self.engine = engine
        self.result = Result(sequence)
        now_ms = int(time.time() * 1000) if now_ms is None else now_ms
        self.namespace, self.now_ms = namespace, now_ms
        served = engine.served
        self.worlds = [
            World(namespace, now_ms, served.magic, checks_counts=served.checks_counts)
            for _ in engine.sides
        ]
        clusters = engine.served.clusters
        self.normalizers = [
            Normalizer(
                *(namespace, now_ms, side.addresses, cluster),
                hashed=hashed_lists(served),
            )
            for side, cluster in zip(engine.sides, clusters, strict=True)
        ]
        self.is_over = False
        self.names: set[str] = set()
        self.groups: set[str] = set()
        self.transactional_ids: set[str] = set()

    def run(self) -> None:
        for index, step in enumerate(self.result.sequence.steps):
            version = self.engine.served.version(step) if isinstance(step, Ask) else None
            self.result.log.append(StepLog(step, version))
            if self.engine.recorder is not None:
                self.engine.recorder.step(step)
            self.take(index, step)
            self._compare(index)
            if self.result.findings or self.is_over:
                return
            self.settle(index, step)

    def settle(self, index: int, step: Step) -> None:
        """Wait until both brokers say the same of what a step may have changed."""
        settler = self.engine.settler
        if _is_unknown_failure(self.result.log[index].real):
            settler.wait_for_controller()
        if isinstance(step, Ask):
            if isinstance(step.request, _MAY_CHANGE_TOPICS):
                settler.wait_for_topics(self.names, self.groups)
            elif _makes_topics(self.result.log[index].real):
                settler.wait_for_topics(self.names, ())
                time.sleep(SETTLED_S)
            elif isinstance(step.request, _MAY_CHANGE_CONFIGS):
                settler.wait_for_configs(self.worlds[0].resolve(step.request), self.names)
            elif isinstance(step.request, _MAY_CHANGE_CLUSTER):
                settler.wait_for_cluster(self.worlds[0].namespace)
        if _may_end_transactions(step):
            settler.wait_for_transactions(self.transactional_ids)

    # Sending

    def take(self, index: int, step: Step) -> None:
        """Do what a step says, and gather what is answered meanwhile."""
        if isinstance(step, Ask):
            self._ask(index, step)
        elif isinstance(step, Raw):
            self.result.requests += 1
            self._record(step.on, "raw", step.data)
            for side in self.engine.sides:
                side.send_raw(step.on, step.data)
            self.gather((step.on, CLOSED), step.limit_s)
        elif isinstance(step, Sleep):
            time.sleep(step.seconds)
            self.gather(None, 0)
        elif isinstance(step, Close):
            for side in self.engine.sides:
                side.close(step.on)
        elif isinstance(step, Restart):
            self.engine.restart(step.is_killed)
            self.engine.settler.wait_for_topics(self.names, self.groups, RESTART_S)
            self.engine.settler.wait_for_cluster(self.worlds[0].namespace)

    def _ask(self, index: int, step: Ask) -> None:
        self.result.requests += 1
        answered = [self.send_to(which, index, step) for which in range(len(self.engine.sides))]
        self.gather((step.link, index + 1) if step.waits and answered[0] else None, step.limit_s)

    def send_to(self, which: int, index: int, step: Ask) -> bool:
        """Send a step's request to one side; returns whether it is answered."""
        side, world = self.engine.sides[which], self.worlds[which]
        version = self.engine.served.version(step)
        claimed = version if step.claim is None else step.claim
        request = self.request_of(world, step)
        header = RequestHeader(request.api_key, claimed, index + 1, world.resolve(step.client_id))
        frame = write_request_header(header) + request.encode(version)
        if step.damage is not None:
            frame = step.damage.apply(frame)
        self._note_names(request)
        asked = Asked(index, request, _answer_version(request, claimed, self.engine.served))
        is_answered = not isinstance(request, ProduceRequest) or request.acks != 0
        if which == 0:
            self._record(step.link, f"{api_name(type(request))} v{claimed}", frame)
        side.send(step.link, frame, index + 1, asked if is_answered else None)
        return is_answered

    def request_of(self, world: World, step: Ask) -> Request:
        """What a broker is asked by a step."""
        request: Request = world.resolve(step.request)
        return request

    def _record(self, on: str, what: str, data: bytes) -> None:
        if self.engine.recorder is not None:
            self.engine.recorder.sent(on, what, data)

    def _note_names(self, request: Request) -> None:
        entries = getattr(request, "topics", None) or ()
        for name in (*getattr(request, "topic_names", ()), *entries):
            text = name if isinstance(name, str) else getattr(name, "name", None)
            if text:
                self.names.add(text)
        for each in getattr(getattr(request, "topology", None), "subtopologies", ()):
            made = (*each.state_changelog_topics, *each.repartition_source_topics)
            self.names.update(topic.name for topic in made)
        if group := getattr(request, "group_id", ""):
            self.groups.add(group)
        transactional_id = getattr(request, "transactional_id", "")
        if transactional_id and not isinstance(request, ProduceRequest):
            self.transactional_ids.add(transactional_id)

    # Receiving

    def gather(self, own: Key | None, limit_s: float) -> None:
        """Receive until both sides have the same answers, among them `own`."""
        sides = self.engine.sides
        changed = time.monotonic()
        until = changed + limit_s
        counts = -1
        while True:
            for side in sides:
                side.receive()
            now = time.monotonic()
            if (count := sum(len(side.arrived) for side in sides)) != counts:
                counts, changed = count, now
            if sides[0].arrived.keys() != sides[1].arrived.keys():
                end = changed + GRACE_S
            elif own is not None and not _has(sides[0], own):
                end = until
            elif any(side.is_waiting for side in sides):
                end = changed + self.engine.quiet_s
            else:
                return
            if now >= end:
                return
            sockets = [each for side in sides for each in side.sockets()]
            if not sockets:
                return
            select.select(sockets, [], [], min(end - now, 0.05))

    # Comparing

    def _compare(self, index: int) -> None:
        log = self.result.log[index]
        late = late_answers(*self.engine.sides) if self.engine.times_answers else {}
        real, ours = (self._trees(i) for i in (0, 1))
        asked = {**real[1], **ours[1]}
        for key in real[0] | ours[0]:
            left, right = real[0].get(key, NOTHING), ours[0].get(key, NOTHING)
            comparison = Comparison(left, right)
            comparison.differences += late.get(key, [])
            if self.is_over:
                continue
            self.result.fields += comparison.fields
            about = asked.get(key)
            label = _label(key, about, index)
            log.real[label], log.ours[label] = left, right
            if about is not None:
                step = self.result.sequence.steps[about.step]
                assert isinstance(step, Ask)
                comparison.differences += contradictions(left, step.says)
            if about is None and isinstance(log.step, Ask):
                # A closed connection is the answer to what was sent over it.
                about = Asked(index, log.step.request, log.version or 0)
            self._judge(index, about, comparison.differences)

    def _judge(self, index: int, about: Asked | None, differences: list[Difference]) -> None:
        """Separate the allowed differences of one answer from the unexplained ones. An allowed one
        that ends the sequence covers the whole answer."""
        request = about.request if about is not None else None
        version = about.version if about is not None else -1
        unexplained: list[Finding] = []
        for difference in differences:
            finding = Finding(index, request, version, difference)
            allowed = self.engine.allowances.find(request, difference)
            if allowed is None:
                unexplained.append(finding)
                continue
            self.result.allowed.append((allowed.name, finding))
            if allowed.ends:
                self.is_over = True
        if not self.is_over:
            self.result.findings += unexplained

    def _trees(self, which: int) -> tuple[dict[Key, Any], dict[Key, Asked]]:
        """What a side has answered since the last call, normalized, and to which requests."""
        side, world = self.engine.sides[which], self.worlds[which]
        trees: dict[Key, Any] = {}
        about: dict[Key, Asked] = {}
        for key in sorted(side.arrived, key=str):
            arrived = side.arrived[key]
            if which == 0 and self.engine.recorder is not None:
                self.engine.recorder.arrived(key, arrived)
            if arrived.asked is not None:
                about[key] = arrived.asked
            trees[key] = self._tree(arrived, world, self.normalizers[which])
        side.arrived.clear()
        return trees, about

    def _tree(self, arrived: Arrived, world: World, normalizer: Normalizer) -> Any:
        asked, answer = arrived.asked, arrived.answer
        if asked is None or not isinstance(answer, Response):
            return str(answer).replace(world.namespace, "~")
        step = self.result.sequence.steps[asked.step]
        assert isinstance(step, Ask)
        keep(world, answer, step.keep)
        return normalizer.tree(answer, asked.version, asked.request)


def _may_end_transactions(step: Step) -> bool:
    """Markers are written after the answers; transactions time out as time passes."""
    if isinstance(step, Ask):
        return isinstance(step.request, _MAY_END_TRANSACTIONS)
    return isinstance(step, Sleep | Restart)


def _has(side: Side, key: Key) -> bool:
    return key in side.arrived or (key[0], CLOSED) in side.arrived


def _label(key: Key, about: Asked | None, index: int) -> str:
    if about is None:
        return f"{key[0]}: {key[1]}"
    return "answer" if about.step == index else f"answer to step {about.step + 1}"


def _answer_version(request: Request, claimed: int, served: Served) -> int:
    """ApiVersions of a version that is not served is answered in version 0."""
    if isinstance(request, ApiVersionsRequest) and claimed not in served.versions(type(request)):
        return 0
    return claimed


def _makes_topics(real: Any) -> bool:
    """Whether internal topics of a streams group are missing: they are made then."""
    statuses = (
        real.get("answer", {}).get("status") if isinstance(real.get("answer"), dict) else None
    )
    return any(each["status_code"] == NO_INTERNAL for each in statuses or ())


def _is_unknown_failure(tree: Any) -> bool:
    """Whether UNKNOWN_SERVER_ERROR (-1) is among the error codes of an answer."""
    if isinstance(tree, dict):
        return tree.get("error_code") == -1 or any(map(_is_unknown_failure, tree.values()))
    return isinstance(tree, list) and any(map(_is_unknown_failure, tree))
