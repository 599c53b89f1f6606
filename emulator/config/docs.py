"""The documentation of configs, in sentences of our own: DescribeConfigs with
`include_documentation`.

The sentences are in the tables. A broker config from which a topic or a group takes its default has
the sentence of that one. Left out: the other configs of brokers, which have none.
"""

from __future__ import annotations

from functools import cache

from .broker_table import broker_definitions
from .group import client_metrics_definitions, group_definitions
from .topic_table import topic_definitions


@cache
def documentation(name: str) -> str | None:
    """The sentence about a config of any resource, or None."""
    return _sentences().get(name)


@cache
def _sentences() -> dict[str, str]:
    rows = [*topic_definitions().values(), *group_definitions().values()]
    rows += client_metrics_definitions().values()
    found = {row.name: row.documentation for row in [*broker_definitions().values(), *rows]}
    sentences = {name: sentence for name, sentence in found.items() if sentence is not None}
    for row in rows:
        for broker in row.brokers:
            if broker.factor == 1 and row.documentation is not None:
                sentences.setdefault(broker.name, row.documentation)
    return sentences
