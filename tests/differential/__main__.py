"""`python -m tests.differential`: ask a real Kafka and the emulator the same, and compare.

    --list              print the names of the hand-written cases
    --case NAME         only the cases whose name begins so; may be repeated
    --seed N            the first seed of the drawn sequences (each has its own: N, N+1, ...)
    --requests N        draw sequences until so many requests were made in all
    --minutes M         stop drawing after so many minutes
    --kind KIND         draw only sequences of this kind; may be repeated
    --kafka-version V   the release that both are: 4.3, or an older one
    --brokers 3         ask clusters of three brokers (clusters/), with cases of their own
    --security          ask brokers with an authorizer (security/), by several users
    --seeds N           of clusters, and with --security, draw so many sequences
    --drawn             leave the hand-written cases out
    --keep              note what was compared, for docs/versions.md

Exit status: 0 when every difference was an allowed one, 1 otherwise.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial

from odradek.compat import Unavailable
from odradek.compat.real_kafka import RealKafka
from odradek.emulator.base.release import KAFKA_4_3, release_named

from tests.releases.compared import keep
from tests.security.secured import SecuredEmulator, SecuredKafka

from .cases import all_cases, cases_named
from .clusters import cases as clusters
from .clusters.clusters import NODES, EmulatedCluster, RealBrokers
from .clusters.draw import draw
from .clusters.engine import ClusterEngine
from .draw.sequences import KINDS
from .engine.brokers import REAL_VERSIONS, EmulatedBroker, config_of
from .engine.engine import Engine
from .engine.run import Run
from .security import draw as security
from .security.engine import SecuredEngine


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--case", action="append", default=[])
    parser.add_argument("--kind", action="append", default=[], choices=list(KINDS))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--kafka-version", default=KAFKA_4_3.name, choices=list(REAL_VERSIONS))
    parser.add_argument("--brokers", type=int, default=1, choices=(1, len(NODES)))
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--security", action="store_true")
    parser.add_argument("--drawn", action="store_true")
    parser.add_argument("--keep", action="store_true")
    given = parser.parse_args(arguments)
    if given.security:
        return _by_users(given)
    if given.brokers > 1:
        return _on_clusters(given)
    if given.list:
        for case in all_cases():
            print(f"{case.rule:10} {case.name}")
        return 0
    try:
        release = given.kafka_version
        real_version = REAL_VERSIONS[release]
        config = config_of(release)
        with RealKafka(real_version, config) as real, EmulatedBroker(config, release) as ours:
            engine = Engine(real, ours, release=release_named(release))
            run = Run(engine, partial(print, flush=True), shrinks=not given.keep)
            if not given.drawn:
                run.cases(cases_named(run.engine.served, given.case))
            if not given.case:
                run.drawn(given.seed, given.requests, given.minutes, given.kind)
            status = run.report(is_whole=not (given.case or given.kind or given.drawn))
            if given.keep:
                keep(run.compared(release))
            return status
    except Unavailable as reason:
        print(f"unavailable: {reason}", file=sys.stderr)
        return 2


def _on_clusters(given: argparse.Namespace) -> int:
    if given.list:
        for case in clusters.cases_named():
            print(f"{case.rule:10} {case.name}")
        return 0
    try:
        with RealBrokers() as real, EmulatedCluster() as ours:
            run = Run(ClusterEngine(real, ours), partial(print, flush=True), shrinks=False)
            if not given.drawn:
                run.cases(clusters.cases_named(given.case))
            if not given.case:
                seeds = range(given.seed, given.seed + given.seeds)
                run.cases((draw(seed, run.engine.served) for seed in seeds), are_drawn=True)
            return run.report(is_whole=not (given.case or given.drawn))
    except Unavailable as reason:
        print(f"unavailable: {reason}", file=sys.stderr)
        return 2


def _by_users(given: argparse.Namespace) -> int:
    users = [*security.USERS, "admin"]
    try:
        real = SecuredKafka(users)
        with real, SecuredEmulator(users) as ours:
            engine = SecuredEngine(real, ours)
            run = Run(engine, partial(print, flush=True), shrinks=not given.keep)
            seeds = range(given.seed, given.seed + given.seeds)
            run.cases((security.draw(seed, engine.served) for seed in seeds), are_drawn=True)
            return run.report(is_whole=False)
    except Unavailable as reason:
        print(f"unavailable: {reason}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
