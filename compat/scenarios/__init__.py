"""The scenarios of a stock client, written once, for every client and every broker.

A scenario is a function `(client, bootstrap)` that asserts; its docstring is its line in the
support table. Each makes topics of its own, so scenarios share a broker and need no order.

The rules:

- What is asserted is what Apache Kafka guarantees, not what it happens to do: shares of a group
  are counted only after the group is stable, order only within a partition.
- Timestamps lie in the last hour, or a broker's retention would rightly delete the records.
- Consumers that run at the same time have a thread each.
- `run` gives each scenario a hard time limit, whatever its client does (`within`).

Left out: what only one client can do, and everything that needs a broker's internals.
"""

from __future__ import annotations

from importlib import import_module

from .registry import SCENARIOS, run

__all__ = ["SCENARIOS", "run"]

# In the order of the support table's lines.
for _module in ("records", "groups", "reading", "topics", "exchange"):
    import_module(f".{_module}", __package__)
