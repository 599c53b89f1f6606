"""`python -m tests.cluster_chaos [--seconds S] [--seed N] [--real] [--client NAME ...]`."""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from tests.clients.support.ground import Emulated, Ground, Real
from tests.cluster_chaos.chaos import chaos
from tests.cluster_chaos.senders import SENDERS


def main() -> int:
    """Exit status 1 if something was lost, written twice, or torn."""
    parser = argparse.ArgumentParser(prog="python -m tests.cluster_chaos")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--real", action="store_true", help="three nodes of Apache Kafka")
    parser.add_argument("--client", action="append", choices=SENDERS, help="by default all")
    options = parser.parse_args()
    ground: Ground = Real() if options.real else Emulated()
    with ground:
        done, verdicts = chaos(
            ground, options.client or list(SENDERS), options.seconds, options.seed
        )
    verbs = Counter(each.split()[2] for each in done)
    print(f"{verbs['stop']} stops, {verbs['kill']} kills; the last at {done[-1]}")
    for verdict in verdicts:
        print("\n".join(verdict.lines()))
    return int(any(verdict.wrong for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main())
