"""Access rules: what a decision takes, with few rules and with many.

    python -m tests.bench.bench_acls [--rules 10000] [--times 100000]

Microseconds for one decision with 10 rules, and with so many: of six in ten the topic has a literal
name, of three a prefix, of one it is "*"; a thousand users, of whom one asks about a topic that
rules of each sort are about.
"""

from __future__ import annotations

import argparse
import sys
import time
from random import Random

from odradek.emulator.base.call import Principal
from odradek.emulator.metadata.delta import MetadataDelta
from odradek.emulator.metadata.image import MetadataImage
from odradek.emulator.security.authorizer.acl import Acl, Kind, Operation, Pattern, Permission
from odradek.emulator.security.authorizer.authorizer import Authorizer

USERS, TEAMS = 1000, 500


def authorizer(rules: int) -> Authorizer:
    """One that has so many rules."""
    random, image = Random(1), MetadataImage()
    for number in range(rules):
        team = f"team{number % TEAMS}."
        pattern, name = random.choice(
            [(Pattern.LITERAL, f"{team}{number}")] * 6
            + [(Pattern.PREFIXED, team)] * 3
            + [(Pattern.LITERAL, "*")]
        )
        operation = random.choice((Operation.READ, Operation.WRITE, Operation.DESCRIBE))
        who = (f"User:u{number % USERS}", "*", operation, Permission.ALLOW)
        image.replay(Acl(Kind.TOPIC, name, pattern, *who).record(number.to_bytes(16, "big")))
    made = Authorizer()
    made(MetadataDelta.of_all(image), image)
    return made


def decision_us(rules: int, times: int) -> float:
    """Microseconds for one decision."""
    asked, who = authorizer(rules), Principal("User", "u5")
    begin = time.perf_counter()
    for _ in range(times):
        asked.may(who, "127.0.0.1", Operation.READ, Kind.TOPIC, "team5.5")
    return (time.perf_counter() - begin) / times * 1e6


def main(arguments: list[str] | None = None) -> int:
    """Print what a decision takes; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bench_acls")
    parser.add_argument("--rules", type=int, default=10_000)
    parser.add_argument("--times", type=int, default=100_000)
    given = parser.parse_args(arguments)
    for rules in (10, given.rules):
        print(f"{rules:7,} rules: {decision_us(rules, given.times):6.2f} us for a decision")
    return 0


if __name__ == "__main__":
    sys.exit(main())
