"""O6 to O9: what brokers answer that do not lead. 1 leads, 2 follows, 3 is no replica."""

from __future__ import annotations

from ...ask.batches import TIME, batch
from ...ask.cluster import producers
from ...ask.clusters import (
    at_each,
    epoch_end,
    in_versions,
    of_fetched,
    of_listed,
    of_produced,
    topic_on,
    wrote,
)
from ...ask.records import delete_records, fetch, list_offsets, produce
from ...ask.transactions import mark
from ...engine.steps import Ask, Send, Steps
from . import case

BEGIN: Steps = [topic_on([1, 2]), wrote(batch(b"x"))]
OTHERS = (2, 3)
EPOCHS = (-2, -1, 0, 1, 2**31 - 1)


@case("O6")
def produce_at_others() -> Steps:
    bad = {
        "magic": batch(b"x", edits={"magic": 1}),
        "offset": batch(b"x", edits={"base_offset": 5}),
        "crc": batch(b"x", edits={"crc": 5}),
        "two": batch(b"x", edits={"last_offset_delta": 3}),
        "empty": b"",
    }
    return [
        *BEGIN,
        *in_versions(produce(batch(b"y")), *range(3, 14), nodes=OTHERS),
        wrote(batch(b"y"), at=2, version=9, says={"error_code": 6, "base_offset": -1}),
        *at_each(
            produce(batch(b"y")),
            12,
            OTHERS,
            says=of_produced(error_code=6, log_start_offset=-1, error_message=None)
            | of_produced(**{"current_leader.leader_id": 1, "current_leader.leader_epoch": 0})
            | {"node_endpoints.0.rack": "a"},
        ),
        *at_each(produce(batch(b"y"), acks=1), 12, OTHERS),
        *at_each(produce(batch(b"y"), acks=5), 12, says=of_produced(error_code=21)),
        *(
            Ask(produce(data), version, at=at)
            for data in bad.values()
            for version in (9, 13)
            for at in (1, 2, 3)
        ),
        *at_each(produce(batch(b"y"), partition=7), 12),
        *at_each(produce(batch(b"y"), name="~none"), 12),
        *(Send(produce(batch(b"y"), acks=0), 12, on="zero", at=at) for at in OTHERS),
        *at_each(list_offsets(-1), 9),
    ]


@case("O7")
def fetch_at_others() -> Steps:
    versions = range(4, 19)
    return [
        *BEGIN,
        *in_versions(fetch(), *versions),
        *at_each(fetch(), 10, OTHERS, says=of_fetched(error_code=6, high_watermark=-1)),
        Ask(fetch(), 11, at=2, says=of_fetched(error_code=0, high_watermark=1)),
        Ask(fetch(), 12, at=3, says=of_fetched(error_code=6, last_stable_offset=-1)),
        Ask(fetch(), 15, at=3, says=of_fetched(error_code=6)),
        Ask(fetch(), 16, at=3, says={"node_endpoints.0.node_id": 1}),
        *in_versions(fetch(1), 11, 12, 17),
        *in_versions(fetch(isolation_level=1), 4, 11, 17),
        *in_versions(fetch(partition=7), 4, 12, 17),
        *in_versions(fetch(name="~none"), 4, 12, 17),
    ]


@case("O8")
def other_questions_at_others() -> Steps:
    return [
        *BEGIN,
        *in_versions(list_offsets(-1), *range(1, 12)),
        *in_versions(list_offsets(-2, -3, TIME), 1, 7, 9),
        *at_each(list_offsets(-1), 9, OTHERS, says=of_listed(error_code=6)),
        *in_versions(list_offsets(-1, replica=-2), 1, 4, 9),
        Ask(list_offsets(-1, replica=-2), 9, at=2, says=of_listed(error_code=0)),
        Ask(list_offsets(-1, replica=-2), 9, at=3, says=of_listed(error_code=6)),
        *in_versions(epoch_end(0), 2, 3, 4),
        *at_each(epoch_end(0), 4, OTHERS, says=of_listed(error_code=6)),
        *in_versions(delete_records(("~t", 0, 0)), 0, 1, 2, nodes=OTHERS),
        *at_each(delete_records(("~t", 0, 0)), 2, OTHERS, says=of_listed(error_code=6)),
        Ask(producers(("~t", [0])), 0, at=1),
        Ask(producers(("~t", [0])), 0, at=2, says=of_listed(error_code=0)),
        Ask(producers(("~t", [0])), 0, at=3, says=of_listed(error_code=6)),
        *at_each(mark(who=(9000, 0)).request, 1),
        Ask(
            mark(who=(9000, 1)).request,
            1,
            at=2,
            says={"markers.0.topics.0.partitions.0.error_code": 6},
        ),
        Ask(
            mark(who=(9000, 1)).request,
            1,
            at=3,
            says={"markers.0.topics.0.partitions.0.error_code": 3},
        ),
    ]


@case("O8")
def what_is_not_there_is_unknown_everywhere() -> Steps:
    steps: Steps = [*BEGIN]
    for name, part in (("~t", 7), ("~none", 0)):
        steps += [
            *at_each(fetch(name=name, partition=part), 12),
            *at_each(delete_records((name, part, 0)), 2),
            *at_each(producers((name, [part])), 0),
            *at_each(mark(((name, [part]),), who=(9000, 0)).request, 1),
        ]
    return [
        *steps,
        *at_each(list_offsets(-1, name="~none"), 9, says=of_listed(error_code=3)),
        *at_each(epoch_end(0, name="~none"), 4, says=of_listed(error_code=3)),
    ]


@case("O9")
def leader_epochs_at_others() -> Steps:
    # A leader epoch of 2, so that there are some below it.
    steps: Steps = [*BEGIN]
    for epoch in EPOCHS:
        steps += in_versions(fetch(current_leader_epoch=epoch), 9, 10, 11, 12, 16, 17)
        steps += in_versions(list_offsets(-1, epoch=epoch), 4, 9)
        steps += in_versions(epoch_end(0, epoch), 2, 4)
    return steps


@case("O9")
def leader_epochs_below_and_above() -> Steps:
    from ...ask.cluster import elect, move

    steps: Steps = [
        *BEGIN,
        Ask(move(("~t", [(0, [2, 1])])), 0, at=1),
        Ask(elect(("~t", [0])), 2, at=1),
        Ask(move(("~t", [(0, [1, 2])])), 0, at=1),
        Ask(elect(("~t", [0])), 2, at=1),
        Ask(fetch(current_leader_epoch=1), 12, at=1, says=of_fetched(error_code=74)),
        Ask(fetch(current_leader_epoch=1), 12, at=2, says=of_fetched(error_code=74)),
        Ask(fetch(current_leader_epoch=3), 12, at=1, says=of_fetched(error_code=75)),
        Ask(fetch(current_leader_epoch=3), 12, at=2, says=of_fetched(error_code=75)),
        Ask(fetch(current_leader_epoch=2), 12, at=2, says=of_fetched(error_code=0)),
        Ask(fetch(current_leader_epoch=2), 10, at=2, says=of_fetched(error_code=6)),
        Ask(epoch_end(0, 2), 4, at=2, says=of_listed(error_code=6)),
        Ask(epoch_end(0, 1), 4, at=2, says=of_listed(error_code=74)),
        Ask(list_offsets(-1, epoch=3), 9, at=2, says=of_listed(error_code=75)),
    ]
    for epoch in (1, 2, 3):
        steps += in_versions(fetch(current_leader_epoch=epoch), 9, 11, 15, 16, 17)
        steps += in_versions(list_offsets(-1, epoch=epoch), 4, 9)
        steps += in_versions(epoch_end(1, epoch), 2, 4)
    return steps
