"""`python -m tests.differential.logins [WORD ...]`: compare the logins that have one of these
words in their names, or all, and print those that differ."""

from __future__ import annotations

import sys

from .brokers import emulated, real
from .cases import CASES
from .compare import differences
from .users import add_users


def main(words: list[str]) -> int:
    names = [name for name in CASES if not words or any(word in name for word in words)]
    with real() as theirs, emulated() as ours:
        for addresses in (theirs, ours):
            add_users(addresses["PLAINTEXT"])
        found = differences(ours, theirs, names)
    for name, (said, expected) in found.items():
        print(f"{name}\n  emulator   {said}\n  Kafka      {expected}")
    print(f"{len(names)} logins, {len(found)} differ")
    return len(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) > 0)
