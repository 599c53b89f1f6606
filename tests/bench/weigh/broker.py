"""A broker to be measured: `python broker.py SETTINGS`, a program of its own, of any commit.

SETTINGS are JSON: the arguments of `Emulator`, and the API whose requests a rule fails. It writes
one line, its address, and for each line that it reads its CPU time so far in nanoseconds.
"""

from __future__ import annotations

import json
import sys
import time


def main() -> None:
    try:
        from odradek import Emulator
    except ImportError:  # a commit without a root
        from odradek import Emulator
    settings = json.loads(sys.argv[1])
    rule = settings.pop("rule", None)
    with Emulator(**settings) as kafka:
        if rule is not None:
            kafka.on(rule).fail("UNKNOWN_SERVER_ERROR")
        print(kafka.bootstrap_servers, flush=True)
        for _ in sys.stdin:
            print(time.process_time_ns(), flush=True)


if __name__ == "__main__":
    main()
