"""Compressed records: other releases of the libraries make other bytes of the same content. Where
they do, what is sent is what was recorded."""

from __future__ import annotations

from hashlib import sha256

from odradek.wire import Request, WireError
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.compression import Codec, compress
from odradek.wire.headers import read_request_header

_SAMPLE = b"".join(b"%d of the sample; " % (number * number) for number in range(500))


def fingerprint() -> str:
    """The same where the libraries compress alike."""
    made = [bytes(compress(codec, _SAMPLE)) for codec in Codec if codec != Codec.NONE]
    return sha256(b"".join(made)).hexdigest()[:12]


def take_over_records(request: Request, frame: bytes) -> None:
    """Put the records of a recorded frame into the same request."""
    if not isinstance(request, ProduceRequest):
        return
    try:
        header, pos = read_request_header(frame)
        recorded = ProduceRequest.decode(frame, header.api_version, pos)
    except WireError:  # it is damaged
        return
    for topic, old_topic in zip(request.topic_data, recorded.topic_data, strict=False):
        for part, old in zip(topic.partition_data, old_topic.partition_data, strict=False):
            part.records = old.records
