"""Sequences written by hand: one or more for each rule of docs/semantics.md.

A case is a function that returns steps; `@case("B14")` names the rule it is about. With
`each=ProduceRequest` it runs once in every version of that API that both brokers serve: its
requests of that API leave their version open.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Sequence as Names
from dataclasses import dataclass, replace

from odradek.wire import Request

from ..engine.served import Served
from ..engine.steps import Ask, Close, Restart, Sequence, Sleep, Step, Steps, Writer


@dataclass(frozen=True)
class Case:
    name: str
    rule: str
    write: Writer
    each: type[Request] | None

    @property
    def family(self) -> str:
        """The name of the module in which it was written."""
        return self.write.__module__.rpartition(".")[2]

    @property
    def is_old(self) -> bool:
        """Whether it is about what only releases up to 3.9 do: only those are asked it, unless the
        case is named."""
        return re.match(r"L\d", self.rule) is not None

    def sequences(self, served: Served, every_version: bool = True) -> list[Sequence]:
        """The case, once or in every version; or only in the first and last of them. What is asked
        of APIs that are not served is left out, and so is a case about nothing else."""
        written = tuple(self.write())
        steps = served.fitting(written)
        if self.each not in (None, *served.ranges) or (written and not _has_asks(steps)):
            return []
        if self.each is None:
            return [Sequence(self.name, steps, self.rule)]
        versions = list(served.versions(self.each))
        if not every_version:
            versions = sorted({versions[0], versions[-1]})
        return [
            Sequence(
                f"{self.name}[v{n}]", tuple(_in(step, self.each, n) for step in steps), self.rule
            )
            for n in versions
        ]


def _has_asks(steps: Names[Step]) -> bool:
    return not all(isinstance(step, Sleep | Restart | Close) for step in steps)


def _in(step: Step, api: type[Request], version: int) -> Step:
    if isinstance(step, Ask) and step.version is None and isinstance(step.request, api):
        return replace(step, version=version)
    return step


_cases: list[Case] = []


def case(rule: str, each: type[Request] | None = None) -> Callable[[Writer], Writer]:
    """Register a function that returns steps as a case about a rule."""

    def register(write: Callable[[], Steps]) -> Callable[[], Steps]:
        _cases.append(Case(write.__name__, rule, write, each))
        return write

    return register


def all_cases() -> list[Case]:
    """Every case, in the order in which they are written."""
    # Here, because these modules import `case` from this one.
    from . import (  # noqa: F401
        admin,
        batches,
        broker_configs,
        cluster,
        cluster_features,
        cluster_security,
        cluster_users,
        compressed,
        config_values,
        configs,
        consumer_groups,
        consumer_mixing,
        consumer_offsets,
        fetch,
        group_configs,
        group_records,
        groups,
        offsets,
        old_lowest,
        old_records,
        old_versions,
        produce,
        protocol,
        recreation,
        rejections,
        restarts,
        sessions,
        share_fetches,
        share_groups,
        share_states,
        streams_groups,
        streams_mixing,
        streams_tasks,
        streams_topologies,
        topics,
        transactional_data,
        transactions,
    )

    return list(_cases)


def cases_named(
    served: Served, prefixes: Names[str] = (), *, every_version: bool = True
) -> list[Sequence]:
    """The sequences of the cases whose names begin so; of all without a prefix."""
    return [
        sequence
        for case in all_cases()
        if (prefixes or case.is_old == served.converts)
        and (not prefixes or case.name.startswith(tuple(prefixes)))
        for sequence in case.sequences(served, every_version)
    ]
