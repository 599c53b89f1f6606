"""Whether a cluster is well: it answers, has a controller, and each partition has a leader.

The exit status is 0 if it is well, else 1. `--wait 30` tries for so many seconds.
"""

from __future__ import annotations

import argparse
import json
from time import monotonic, sleep
from typing import Any

from ....emulator.base.words import number_of
from ....wire.api.metadata import MetadataRequest
from .arguments import seconds
from .client import Brokers
from .tables import add_json

_NO_LEADER = -1
_EVERY_S = 0.2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the view's arguments."""
    parser.add_argument(
        "--wait", type=seconds, metavar="SECONDS", help="how long to try until it is well"
    )
    parser.set_defaults(json=False)
    add_json(parser)


def run(brokers: Brokers, options: argparse.Namespace) -> int:
    end = monotonic() + (options.wait or 0)
    facts, problems = _look(brokers)
    while problems and monotonic() < end:
        sleep(_EVERY_S)
        facts, problems = _look(brokers)
    if options.json:
        print(json.dumps(facts))
    else:
        words = [number_of(facts[f"{noun}s"], noun) for noun in ("broker", "topic", "partition")]
        if facts["under_replicated"]:
            words.append(f"{facts['under_replicated']} of them under-replicated")
        state = f"not well, {', '.join(problems)}" if problems else "well"
        print(f"{options.address} is {state}: {', '.join(words)}")
    return 1 if problems else 0


def _look(brokers: Brokers) -> tuple[dict[str, Any], list[str]]:
    metadata = brokers.ask(MetadataRequest(topics=None), most=12)
    partitions = [each for topic in metadata.topics for each in topic.partitions]
    offline = sum(each.leader_id == _NO_LEADER for each in partitions)
    problems = []
    if metadata.controller_id < 0:
        problems.append("no controller")
    if offline:
        problems.append(f"{number_of(offline, 'partition')} without a leader")
    facts = {
        "healthy": not problems,
        "brokers": len(metadata.brokers),
        "controller": metadata.controller_id,
        "topics": len(metadata.topics),
        "partitions": len(partitions),
        "offline": offline,
        "under_replicated": sum(len(p.isr_nodes) < len(p.replica_nodes) for p in partitions),
    }
    return facts, problems
