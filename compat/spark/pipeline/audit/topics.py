"""The audit of topics of a broker: one task a partition."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..broker import EARLIEST, LATEST, Cluster, offsets
from ..topics import Topics, partition_sizes
from .findings import Findings, in_order
from .joining import Audit, Run
from .partition_check import PartitionSummary
from .records_check import RecordsSummary, skew
from .topic_check import TopicTask, check_topic


def plan_topics(topics: Topics, jump_ms: int) -> list[TopicTask]:
    """A task for each partition, up to its end of now. Raises BrokerError."""
    with Cluster(topics.addresses) as cluster:
        places = list(topics.places(cluster))
        first = offsets(cluster, places, EARLIEST)
        after = offsets(cluster, places, LATEST)
        sizes = partition_sizes(cluster, places)
    return [
        TopicTask(
            *(topics.addresses, *place, first[place], after[place], sizes.get(place, 0), jump_ms)
        )
        for place in places
    ]


def audit_topics(
    text: str,
    tasks: Sequence[TopicTask],
    run: Run,
    advance: Callable[[int], None] = lambda by: None,
) -> Audit:
    """Audit these partitions. Raises BrokerError."""
    audit = Audit(text)
    keys: dict[str, RecordsSummary] = {}
    contents: dict[str, dict[int, RecordsSummary]] = {}
    for number, summary in run(check_topic, tasks, sum(task.size for task in tasks)):
        task = tasks[number]
        audit.add(summary.findings)
        audit.partitions.append(
            PartitionSummary(
                *(task.topic, task.partition, 0, summary.batches, summary.records, task.size),
                *(summary.first_offset, summary.next_offset, summary.open_transactions),
                summary.findings,
            )
        )
        keys.setdefault(task.topic, RecordsSummary()).join(summary.content)
        contents.setdefault(task.topic, {})[task.partition] = summary.content.without_keys()
        advance(task.size)
    audit.partitions.sort(key=lambda each: (each.topic, each.partition))
    audit.findings.sort(key=in_order)
    for topic, partitions in sorted(contents.items()):
        found = Findings(topic)
        for finding in skew(topic, keys[topic], partitions):
            found.add(finding)
        audit.add(found)
    return audit
