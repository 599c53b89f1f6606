"""Two mirrors at a time into one topic: which refusals tell of it, and what is said then.

They use the same producer, so that one which goes on after another is known to the target. What
both send at once has the same sequences.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .....wire import Error
from ..broker.cluster import RefusedRequest
from ..errors import PipelineError

_OF_ANOTHER = frozenset(
    {
        Error.OUT_OF_ORDER_SEQUENCE_NUMBER,
        Error.DUPLICATE_SEQUENCE_NUMBER,
        Error.INVALID_PRODUCER_EPOCH,
        Error.PRODUCER_FENCED,
        Error.INVALID_TXN_STATE,
    }
)


@contextmanager
def telling_of_another(topic: str) -> Iterator[None]:
    """Say that another mirror writes to the topic, where the target refuses because of one."""
    try:
        yield
    except RefusedRequest as refused:
        if refused.error not in _OF_ANOTHER:
            raise
        raise PipelineError(
            f"topic {topic}: another mirror writes to it in the target at the same time "
            f"({refused}): end one of them; nothing is lost, the same command goes on"
        ) from refused
