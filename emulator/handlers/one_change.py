"""Several answers whose records are written as one change: all of them, or none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from ...wire import Refused
from ...wire.stored.cluster import MetadataRecord

if TYPE_CHECKING:
    from ..cluster import Cluster


class Answer(Protocol):
    """What of a response tells how one of the things asked for went."""

    error_code: int
    error_message: str | None


def write_together(
    cluster: Cluster, planned: Iterable[tuple[Answer, Sequence[MetadataRecord]]]
) -> None:
    """Append the records of all answers. If that is refused, each that has any says so."""
    planned = list(planned)
    try:
        cluster.metadata.append([record for _, records in planned for record in records])
    except Refused as refused:
        for answer, records in planned:
            if records:
                answer.error_code, answer.error_message = refused.error, refused.message
