"""All nodes of a ZooKeeper, as text that can be compared and kept."""

from __future__ import annotations

import json
import re
from typing import Any

Nodes = dict[str, list[Any]]
"""By path: the data, whether it is ephemeral, how often its data was changed."""
_LEFT_OUT = ("/zookeeper",)


def nodes_of(zk: Any, path: str = "/", found: Nodes | None = None) -> Nodes:
    """Those of a KazooClient. Raises NoNodeError for one that goes meanwhile."""
    found = {} if found is None else found
    data, stat = zk.get(path)
    found[path] = [value_of(data), bool(stat.ephemeralOwner), stat.version]
    for name in sorted(zk.get_children(path)):
        below = f"{path.rstrip('/')}/{name}"
        if not below.startswith(_LEFT_OUT):
            nodes_of(zk, below, found)
    return found


def value_of(data: bytes | None) -> Any:
    """JSON as what it says, with times and random ids left out."""
    if data is None:
        return None
    text = data.decode()
    text = re.sub(r'"timestamp":"\d{13}"', '"timestamp":"T"', text)
    text = re.sub(r'"id":"[\w-]{22}"', '"id":"ID"', text)
    text = re.sub(r"127\.0\.0\.1:\d+", "HOST:PORT", text)
    text = re.sub(r'"port":\d+', '"port":1', text)
    try:
        return json.loads(text)
    except ValueError:
        return text


def changed(before: Nodes, after: Nodes) -> dict[str, list[Any] | None]:
    """What differs; None for what has gone."""
    found: dict[str, list[Any] | None] = {p: v for p, v in after.items() if before.get(p) != v}
    return found | {path: None for path in before if path not in after}
