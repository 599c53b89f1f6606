"""What there is advice on, for a cluster that is driven directly."""

from __future__ import annotations

from odradek.emulator.advice.advice import Advice
from odradek.emulator.advice.advise import advise
from odradek.emulator.cluster import Cluster


def advised(cluster: Cluster) -> list[Advice]:
    return advise(cluster.journal.events(), cluster)


def rules(cluster: Cluster) -> list[str]:
    return [each.rule for each in advised(cluster)]


def text(cluster: Cluster) -> str:
    (advice,) = advised(cluster)
    return str(advice)
