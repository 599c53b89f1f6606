"""Section A: frames, headers, versions, and what closes a connection."""

from __future__ import annotations

from struct import pack

from odradek.wire.api.api_versions import ApiVersionsRequest
from odradek.wire.api.metadata import MetadataRequest

from ..ask.batches import batch
from ..ask.records import fetch, list_offsets, produce, put
from ..ask.topics import create
from ..engine.steps import Ask, Close, Damage, Raw, Send, Sleep, Steps
from . import case

PROBE = ApiVersionsRequest(client_software_name="probe", client_software_version="1.0")


@case("A1")
def impossible_sizes_close() -> Steps:
    sizes = (-1, -(2**31), 104857601, 2**31 - 1)
    return [Raw(pack(">i", size), on=f"c{size}") for size in sizes]


@case("A1")
def an_empty_frame_closes() -> Steps:
    return [Raw(pack(">i", 0))]


@case("A2")
def unknown_apis_close() -> Steps:
    return [
        Raw(pack(">ihhih", 10, key, 0, 1, -1), on=f"c{key}")
        for key in (-1, 4, 5, 6, 7, 52, 56, 58, 59, 62, 63, 67, 70, 73, 82, 93, 1000, 32767)
    ]


@case("A2")
def unknown_versions_close() -> Steps:
    requests = [
        (MetadataRequest(topics=[]), 4, 14),
        (MetadataRequest(topics=[]), 4, -1),
        (fetch(), 12, 3),
        (fetch(), 12, 19),
        (produce(batch(b"x")), 3, 2),
        (produce(batch(b"x")), 3, 14),
        (list_offsets(0), 1, 0),
        (list_offsets(0), 1, 12),
    ]
    return [
        Ask(request, version, claim=claim, on=f"c{n}")
        for n, (request, version, claim) in enumerate(requests)
    ]


@case("A2", each=MetadataRequest)
def a_body_cut_short_closes() -> Steps:
    request = MetadataRequest(topics=[MetadataRequest.Topic(name="~t")])
    return [Ask(request, damage=Damage(cut=cut), on=f"c{cut}") for cut in (1, 2, 5)]


@case("A3", each=ApiVersionsRequest)
def api_versions() -> Steps:
    return [Ask(PROBE), Ask(PROBE, client_id=""), Ask(PROBE, client_id="ü" * 20)]


@case("A4", each=MetadataRequest)
def trailing_bytes_are_ignored() -> Steps:
    request = MetadataRequest(topics=[], allow_auto_topic_creation=False)
    return [Ask(request, damage=Damage(extra=b"more bytes"))]


@case("A5")
def api_versions_above_the_last() -> Steps:
    return [Ask(PROBE, 4, claim=5), Ask(PROBE, 0, claim=99), Ask(PROBE, 0, claim=-1)]


@case("A5", each=ApiVersionsRequest)
def names_of_client_software() -> Steps:
    names = ("", "-", "a", "a-b.c", "a-", ".a", "a b", "ü", "x" * 300)
    return [
        *(
            Ask(ApiVersionsRequest(client_software_name=name, client_software_version="1"))
            for name in names
        ),
        *(
            Ask(ApiVersionsRequest(client_software_name="a", client_software_version=name))
            for name in names
        ),
    ]


@case("A7")
def a_waiting_fetch_holds_up_later_requests() -> Steps:
    return [
        create(),
        Send(fetch(wait_ms=600, min_bytes=1), 12),
        Send(MetadataRequest(topics=[]), 4),
        Sleep(0.2),
        Ask(MetadataRequest(topics=[]), 4, on="other"),
        Sleep(0.7),
    ]


@case("A7")
def an_append_ends_the_wait_of_later_requests() -> Steps:
    return [
        create(),
        Send(fetch(wait_ms=5000, min_bytes=1), 12),
        Send(list_offsets(-1), 5),
        Ask(produce(batch(b"x")), 9, on="other"),
        Sleep(0.1),
    ]


@case("A8")
def acks_0_is_silent_unless_it_fails() -> Steps:
    return [
        create(partitions=2),
        Send(produce(batch(b"x"), acks=0), 9),
        Ask(PROBE, 3),
        Send(produce(batch(b"x"), partition=7, acks=0), 9),
        Ask(PROBE, 3),
        Send(produce(batch(b"x", edits={"base_offset": 1}), acks=0), 9),
        Ask(PROBE, 3),
        Ask(list_offsets(-1), 5),
    ]


@case("A2")
def closing_one_connection_leaves_others() -> Steps:
    return [
        create(),
        put(b"x"),
        Send(fetch(1, wait_ms=3000, min_bytes=1), 12, on="gone"),
        Close("gone"),
        put(b"y"),
        Ask(fetch(1), 12),
    ]
