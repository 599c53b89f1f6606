"""How a sequence is run on two clusters of three brokers.

After each step that may change something the two are asked for their views (views.py) until these
are alike; if they do not become alike, the sequence ends with that difference. When a sequence is
over, all brokers run again, its topics are deleted, and preferred replicas lead.

Both clusters have the partitions of the internal topics on the same brokers, so that a group has
the same coordinator on both.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

from odradek.wire import Error, Request
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.describe_transactions import DescribeTransactionsRequest
from odradek.wire.api.elect_leaders import ElectLeadersRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest
from odradek.wire.api.list_groups import ListGroupsRequest
from odradek.wire.api.list_transactions import ListTransactionsRequest
from odradek.wire.schema import Struct

from ..allowed import Allowances
from ..allowed.clusters import ALLOWED_OF_CLUSTERS, CHANGES_NOTHING
from ..ask.cluster import move
from ..ask.clusters import CONTROLLER
from ..engine.compare import Comparison
from ..engine.engine import Engine, SequenceRun
from ..engine.results import Finding, Result
from ..engine.served import Served
from ..engine.steps import Act, Ask, Sequence, Settled, Step
from .clusters import INTERNAL_PARTITIONS, NODES, Brokers
from .views import INTERNAL, Viewer

log = logging.getLogger(__name__)

SETTLE_S = 20.0
WHOLE_S = 90.0
_LOADING_S = 5.0
_PAUSE_S = 0.02
_PREFERRED = 0


class ClusterEngine(Engine):
    times_answers = False  # how long a real cluster takes for a change is its own business

    def __init__(self, real: Brokers, ours: Brokers, allowances: Allowances | None = None) -> None:
        self.clusters = (real, ours)
        super().__init__(real, ours, allowances or Allowances(ALLOWED_OF_CLUSTERS))

    @property
    def runner(self) -> type[SequenceRun]:
        """What runs a sequence."""
        return ClusterRun

    def run(self, sequence: Sequence) -> Result:
        """Run a sequence; once more, on new clusters, if a node did not come up."""
        try:
            return super().run(sequence)
        except (RuntimeError, TimeoutError) as error:
            log.warning("new clusters, for %s: %s", sequence.name, error)
            self.at_both(lambda brokers: brokers.renew())
            self.served = Served.of(self.sides)  # ours has another cluster id
            self.warm_up()
            return super().run(sequence)

    def warm_up(self) -> None:
        """Wait until coordinators are ready; put the internal topics on the same brokers.

        Raises TimeoutError if that takes too long.
        """
        pairs = zip(self.sides, self.clusters, strict=True)
        self.viewers = [Viewer(side, brokers) for side, brokers in pairs]
        self.until(lambda viewer: _found(viewer), "the internal topics are not there")
        for viewer in self.viewers:
            viewer.ask_any(move(*((name, _placed()) for name in INTERNAL)), 0)
        self.make_whole()
        self.until(_is_warm, "the coordinators do not become ready")

    def ended(self, run: SequenceRun) -> None:
        """Let all brokers run again, and delete the topics of a sequence."""
        namespace = run.worlds[0].namespace
        topics = sorted(name for name in run.names if name.startswith(namespace))
        self.at_both(lambda brokers: brokers.mend())
        for viewer in self.viewers:
            if topics:
                viewer.ask_any(DeleteTopicsRequest(topic_names=topics, timeout_ms=10_000), 5)
        self.make_whole()

    def make_whole(self) -> None:
        """Wait until all brokers are listed and in sync, and preferred replicas lead. Raises
        TimeoutError."""
        elect = ElectLeadersRequest(
            election_type=_PREFERRED, topic_partitions=None, timeout_ms=10_000
        )

        def is_whole(viewer: Viewer) -> bool:
            if any(listed != [*NODES] for listed in viewer.listed()):
                return False
            seen = viewer.view((), (), ())
            rows = [
                seen.get(f"{name}-{p}") for name in INTERNAL for p in range(INTERNAL_PARTITIONS)
            ]
            if any(row is None or row["isr"] != [*NODES] for row in rows):
                return False
            if all(cast(Any, row)["leader"] == _leader(i) for i, row in enumerate(rows)):
                return all(_is_loaded(viewer, node) and _has_ids(viewer, node) for node in NODES)
            viewer.ask_any(elect, 2)
            return False

        self.until(is_whole, "the cluster does not become whole")

    def at_both(self, do: Callable[[Brokers], None]) -> None:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(do, self.clusters))

    def until(self, is_done: Callable[[Viewer], bool], otherwise: str) -> None:
        """Wait until it is so on both sides. Raises TimeoutError."""
        deadline = time.monotonic() + WHOLE_S
        for viewer in self.viewers:
            while not _holds(is_done, viewer):
                if time.monotonic() > deadline:
                    raise TimeoutError(otherwise)
                time.sleep(_PAUSE_S)


class ClusterRun(SequenceRun):
    def take(self, index: int, step: Step) -> None:
        """Do what a step says, and gather what is answered meanwhile."""
        engine = cast(ClusterEngine, self.engine)
        if isinstance(step, Act):
            for viewer in engine.viewers:
                viewer.forget(step.node)
            engine.at_both(lambda brokers: brokers.do(step.verb, step.node))
            if step.verb == "start" and step.node != CONTROLLER:
                engine.until(lambda viewer: _has_ids(viewer, step.node), "it gives no producer ids")
            self.gather(None, 0)
        elif isinstance(step, Settled):
            self._await_fences(engine)
            self.gather(None, 0)
        else:
            super().take(index, step)

    def _ask(self, index: int, step: Ask) -> None:
        """Ask, and ask a real broker again that does not know yet what it coordinates, as clients
        do: for a moment after an election it answers 14 where the emulator is ready at once."""
        super()._ask(index, step)
        key = step.link, index + 1
        real, ours = (side.arrived for side in self.engine.sides)
        until = time.monotonic() + _LOADING_S
        while key in real and key in ours and time.monotonic() < until:
            if not _is_loading(real[key].answer) or _is_loading(ours[key].answer):
                return
            time.sleep(_PAUSE_S)
            del real[key]
            self.send_to(0, index, step)
            self.gather(key, step.limit_s)

    def settle(self, index: int, step: Step) -> None:
        """Wait until both clusters say the same of themselves."""
        if isinstance(step, Ask) and (not step.waits or isinstance(step.request, CHANGES_NOTHING)):
            return
        engine = cast(ClusterEngine, self.engine)
        deadline = time.monotonic() + SETTLE_S
        while True:
            comparison = Comparison(*(self._view(viewer) for viewer in engine.viewers))
            if not comparison.differences:
                self.result.fields += comparison.fields
                return
            if time.monotonic() > deadline:
                break
            time.sleep(_PAUSE_S)
        self.result.findings += [
            Finding(index, None, -1, difference) for difference in comparison.differences
        ]

    def _view(self, viewer: Viewer) -> dict[str, Any]:
        seen = viewer.view(self.names, self.groups, self.transactional_ids)
        return cast(dict[str, Any], _plain(seen, self.worlds[0].namespace))

    def _await_fences(self, engine: ClusterEngine) -> None:
        """Wait until no broker lists one that does not run."""
        deadline = time.monotonic() + SETTLE_S
        for viewer in engine.viewers:
            while not _holds(lambda v: all(each == v.running() for each in v.listed()), viewer):
                if time.monotonic() > deadline:
                    return  # that it is still listed is seen by the view
                time.sleep(_PAUSE_S)


def _plain(tree: Any, namespace: str) -> Any:
    if isinstance(tree, dict):
        return {key.replace(namespace, "~"): _plain(each, namespace) for key, each in tree.items()}
    return tree


def _holds(is_done: Callable[[Viewer], bool], viewer: Viewer) -> bool:
    try:
        return is_done(viewer)
    except OSError:  # a broker is not ready yet
        return False


def _found(viewer: Viewer) -> bool:
    finds: Iterable[Request] = (
        FindCoordinatorRequest(key="warm-up", key_type=kind) for kind in (0, 1)
    )
    return sum([viewer.ask_any(find, 1).error_code for find in finds]) == 0


def _is_loading(answer: Any) -> bool:
    """Whether an answer says COORDINATOR_LOAD_IN_PROGRESS, of anything."""
    if isinstance(answer, list):
        return any(map(_is_loading, answer))
    if not isinstance(answer, Struct):
        return False
    values = {each.name: getattr(answer, each.name) for each, _ in type(answer).fields()}
    return values.get("error_code") == Error.COORDINATOR_LOAD_IN_PROGRESS or any(
        _is_loading(value) for value in values.values() if isinstance(value, list | Struct)
    )


def _is_warm(viewer: Viewer) -> bool:
    """Whether every broker is ready to coordinate, and has producer ids to give."""
    keys = [chr(code) for code in range(50, 80)]
    states = DescribeTransactionsRequest(transactional_ids=keys)
    known: dict[str, set[int]] = {}
    for node in viewer.running():
        if viewer.ask(node, ListGroupsRequest(), 3).error_code:
            return False
        if not _has_ids(viewer, node):
            return False
        for each in viewer.ask(node, states, 0).transaction_states:
            known.setdefault(each.transactional_id, set()).add(each.error_code)
    return all(codes == {16, 105} for codes in known.values())


def _is_loaded(viewer: Viewer, node: int) -> bool:
    """Whether the coordinators of a broker have read what they lead: after an election a real one
    answers 14 for a moment."""
    transactions = ListTransactionsRequest(state_filters=[], producer_id_filters=[])
    asked = ((ListGroupsRequest(), 3), (transactions, 0))
    return not any(viewer.ask(node, request, version).error_code for request, version in asked)


def _has_ids(viewer: Viewer, node: int) -> bool:
    """Whether a broker has producer ids to give: a real one first answers 14, and gets a block."""
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
    return not viewer.ask(node, request, 0).error_code


def _placed() -> list[tuple[int, list[int] | None]]:
    """Each partition of an internal topic, and its brokers."""
    return [(p, [*NODES[p:], *NODES[:p]]) for p in range(INTERNAL_PARTITIONS)]


def _leader(row: int) -> int:
    return NODES[row % INTERNAL_PARTITIONS]
