"""`python -m tests.share_chaos [--seconds S] [--seed N] [--members N] [--real]`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from odradek import Emulator
from odradek.compat import RealKafka

from tests.share_chaos.chaos import CONFIG, chaos


def main() -> int:
    """Exit status 1 if a record was lost, or acknowledged twice."""
    parser = argparse.ArgumentParser(prog="python -m tests.share_chaos")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--members", type=int, default=8)
    parser.add_argument("--keep", help="a directory for what the members are told")
    parser.add_argument("--real", action="store_true", help="a node of Apache Kafka")
    options = parser.parse_args()
    broker: Any = RealKafka(config=CONFIG) if options.real else Emulator(CONFIG)
    with broker as kafka, tempfile.TemporaryDirectory() as work:
        verdict = chaos(
            *(kafka.bootstrap_servers, Path(options.keep or work), options.seconds, options.seed),
            members=options.members,
        )
    print("\n".join(verdict.lines()))
    return int(bool(verdict.wrong))


if __name__ == "__main__":
    sys.exit(main())
