"""O10 and O11: where leader epochs begin and end. Epoch 0 has two records, 1 and 3 have one, 2 has
none."""

from __future__ import annotations

from ...ask.batches import TIME, batch
from ...ask.cluster import elect, move
from ...ask.clusters import at_each, epoch_end, in_versions, of_fetched, of_listed, topic_on, wrote
from ...ask.records import fetch, list_offsets
from ...engine.steps import Ask, Steps
from . import case


def _led_by(first: int, then: int) -> Steps:
    return [
        Ask(move(("~t", [(0, [first, then])])), 0, at=1),
        Ask(elect(("~t", [0])), 2, at=1),
    ]


BEGIN: Steps = [
    topic_on([1, 2]),
    wrote(batch(b"a", b"b")),
    *_led_by(2, 1),  # 1
    wrote(batch(b"c", time=TIME + 5), at=2),
    *_led_by(1, 2),  # 2
    *_led_by(2, 1),  # 3
    wrote(batch(b"d", time=TIME + 9), at=2),
]


@case("O10")
def batches_carry_their_epoch() -> Steps:
    return [
        *BEGIN,
        *at_each(fetch(), 12, (1, 2)),
        *(Ask(list_offsets(time), 9, at=2) for time in (-1, -2, -3, TIME, TIME + 1, TIME + 6)),
        Ask(list_offsets(-1), 9, at=2, says=of_listed(leader_epoch=3, offset=4)),
        Ask(list_offsets(TIME), 9, at=2, says=of_listed(leader_epoch=0, offset=0)),
        Ask(list_offsets(TIME + 5), 9, at=2, says=of_listed(leader_epoch=1, offset=2)),
    ]


@case("O10")
def where_epochs_end() -> Steps:
    return [
        *BEGIN,
        *(Ask(epoch_end(epoch), version, at=2) for version in (2, 4) for epoch in range(-2, 7)),
        Ask(epoch_end(0), 4, at=2, says=of_listed(leader_epoch=0, end_offset=2)),
        Ask(epoch_end(1), 4, at=2, says=of_listed(leader_epoch=1, end_offset=3)),
        Ask(epoch_end(2), 4, at=2, says=of_listed(leader_epoch=1, end_offset=3)),
        Ask(epoch_end(3), 4, at=2, says=of_listed(leader_epoch=3, end_offset=4)),
        Ask(epoch_end(4), 4, at=2, says=of_listed(leader_epoch=-1, end_offset=-1)),
        *_led_by(1, 2),
        Ask(epoch_end(4), 4, at=1, says=of_listed(leader_epoch=4, end_offset=4)),
        Ask(epoch_end(3), 4, at=1),
    ]


@case("O11")
def positions_that_diverge() -> Steps:
    steps: Steps = [*BEGIN]
    for epoch in range(-1, 6):
        for offset in range(6):
            request = fetch(offset, last_fetched_epoch=epoch)
            steps += at_each(request, 12, (1, 2))
    return [
        *steps,
        Ask(
            fetch(4, last_fetched_epoch=0),
            12,
            at=2,
            says=of_fetched(**{"diverging_epoch.epoch": 0, "diverging_epoch.end_offset": 2}),
        ),
        Ask(fetch(5), 11, at=2, says=of_fetched(error_code=1)),
        *in_versions(fetch(5), 4, 11, 12, 17, nodes=(1, 2)),
        *in_versions(fetch(2, last_fetched_epoch=0), 12, 16, 17, nodes=(1, 2, 3)),
    ]
