"""What the requests for offsets of share groups have in common: the sentences of refusals.

Kafka answers them with the error's own sentence where it has no better one; its other group
requests say nothing then.
"""

from __future__ import annotations

from ...wire import Error, Refused

_SENTENCES: dict[int, str] = {
    Error.COORDINATOR_LOAD_IN_PROGRESS: (
        "The coordinator is loading and hence can't process requests."
    ),
    Error.COORDINATOR_NOT_AVAILABLE: "The coordinator is not available.",
    Error.NOT_COORDINATOR: "This is not the correct coordinator.",
}


def sentence_of(refused: Refused) -> str | None:
    return refused.message or _SENTENCES.get(refused.error)
