"""`python -m tests.situations [--client NAME] [--only TEXT] [--times 3]`; `--table` only writes."""

from __future__ import annotations

import argparse
import json
import logging
import os
import subprocess
import sys

from tests.situations.apps import CLIENTS
from tests.situations.judging import RECOVERS
from tests.situations.on_kafka import outcomes
from tests.situations.rows import ROWS
from tests.situations.run import of_client, results_of
from tests.situations.table import write


def main() -> int:
    """Run the clients side by side, a process each, and write the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.situations", description=__doc__)
    parser.add_argument("--client", choices=CLIENTS, help="this one alone")
    parser.add_argument("--only", default="", help="rows with this text in their name")
    parser.add_argument("--times", type=int, default=3, help="how often each is run")
    parser.add_argument("--on-kafka", action="store_true", help="on a real one, where that can be")
    parser.add_argument("--table", action="store_true", help="only write the table")
    parser.add_argument("--no-table", action="store_true", help="do not write the table")
    given = parser.parse_args()
    if given.on_kafka:
        _on_kafka([given.client] if given.client else list(CLIENTS), given.only)
    elif not given.table:
        if given.client:
            of_client(given.client, [row for row in ROWS if given.only in row.key], given.times)
        elif not _all_clients(given.only, given.times):
            return 1
    if not (given.no_table or given.on_kafka):
        write()
    sys.stdout.flush()
    os._exit(0)  # threads of clients that still try would keep the process


def _on_kafka(clients: list[str], only: str) -> None:
    logging.disable(logging.CRITICAL)
    for client in clients:
        kept = json.loads(results_of(client).read_text())["rows"]
        for row, outcome in outcomes(client, only):
            known = {text for text, _ in kept.get(row.key, [])}
            is_same = outcome.text in known or (row.well in known and outcome.text == RECOVERS)
            print(f"{client}: {row.key}: {outcome.text}{'' if is_same else f', not {known}'}")


def _all_clients(only: str, times: int) -> bool:
    command = [sys.executable, "-m", "tests.situations", "--no-table"]
    more = ["--only", only, "--times", str(times)]
    runs = [subprocess.Popen([*command, "--client", each, *more]) for each in CLIENTS]
    return [run.wait() for run in runs] == [0] * len(runs)


if __name__ == "__main__":
    sys.exit(main())
