"""`python -m tests.export_import`: a million records through `odradek produce --json` and `records
--output`.

Records have keys and values that are null, no text, JSON; headers whose names repeat, with null and
with no text; timestamps of their own; four partitions. The export and the second import are each
interrupted twice (SIGINT), and go on. Then the two exports are compared, line by line, without
topic and offset. `--kill` has the imports and exports killed instead: then records may be there
twice, and how many is said.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.clients.support.broker_process import Served

PARTITIONS = 4
ODRADEK = [sys.executable, "-m", "odradek"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--kill", action="store_true", help="SIGKILL instead of SIGINT")
    asked = parser.parse_args()
    how = signal.SIGKILL if asked.kill else signal.SIGINT
    with tempfile.TemporaryDirectory() as folder, Served(Path(folder, "data"), KEPT) as broker:
        return run(Shell(broker.bootstrap_servers, Path(folder), asked.records), how)


KEPT = {"log.retention.ms": "-1"}


def run(shell: Shell, how: signal.Signals) -> int:
    """Import, export, import the export, export that; compare. Returns the exit status."""
    first, exported, again = (shell.folder / name for name in ("made", "exported", "again"))
    first.write_text("".join(made(shell.count)))
    shell.whole("the import", first, shell.importing("orders", first))
    shell.interrupted("the export", exported, shell.exporting("orders", exported), how)
    shell.interrupted("the import of it", exported, shell.importing("copy", exported), how)
    shell.whole("the export of that", again, shell.exporting("copy", again))
    wanted, found = contents(first), contents(again)
    missing, twice = wanted - found, sum((found - wanted).values())
    is_well = not missing and (twice == 0 or how == signal.SIGKILL)
    print(f"{sum(missing.values())} records are missing, {twice} are there twice")
    return 0 if is_well else 1


class Shell:
    """Commands against a broker, and what they took."""

    def __init__(self, address: str, folder: Path, count: int) -> None:
        self.address = address
        self.folder = folder
        self.count = count

    def importing(self, topic: str, file: Path) -> list[str]:
        """The command."""
        state = str(self.folder / f"{topic}.state")
        given = ["--json", str(file), "--create-topic", str(PARTITIONS), "--resume", state]
        return [*ODRADEK, "produce", self.address, topic, *given]

    def exporting(self, topic: str, file: Path) -> list[str]:
        """The command."""
        return [*ODRADEK, "records", self.address, topic, "--output", str(file)]

    def whole(self, what: str, file: Path, command: list[str]) -> None:
        """Run it, and say how fast it was."""
        begin = time.monotonic()
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        self._tell(what, file, time.monotonic() - begin)

    def interrupted(self, what: str, file: Path, command: list[str], how: signal.Signals) -> None:
        """Run it, interrupt it twice after a while, and run it to its end."""
        begin = time.monotonic()
        for part in (1, 2):
            process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
            try:
                process.wait(part * self.count / 200_000)
            except subprocess.TimeoutExpired:
                process.send_signal(how)
            print(f"{what}: interrupted, exit status {process.wait()}")
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        self._tell(what, file, time.monotonic() - begin)

    def _tell(self, what: str, file: Path, seconds: float) -> None:
        size = file.stat().st_size / 1e6
        rate = self.count / seconds
        print(f"{what}: {seconds:.1f} s, {rate:,.0f} records/s, {size:.0f} MB of JSON")


def made(count: int) -> Iterator[str]:
    """Lines as `odradek records --json` prints them."""
    odd: list[dict[str, Any]] = [
        {"name": "h", "value": None},
        {"name": "h", "value_base64": "/wA="},
        {"name": "h", "value": "é"},
    ]
    for number in range(count):
        entry: dict[str, Any] = {
            "topic": "made",
            "partition": number % PARTITIONS,
            "offset": number // PARTITIONS,
            "timestamp": 1_700_000_000_000 + number,
        }
        entry |= {"key_base64": "/w=="} if number % 11 == 0 else {"key": f"k{number}"}
        if number % 5 == 0:
            entry["key"] = None
            entry.pop("key_base64", None)
        value = json.dumps({"id": number, "city": "Łódź"}) if number % 3 else "x" * 100
        entry["value"] = None if number % 7 == 0 else value
        entry["headers"] = odd if number % 4 == 0 else []
        yield f"{json.dumps(entry)}\n"


def contents(file: Path) -> Counter[int]:
    """What each line says but topic and offset, and how often."""

    def entries(lines: Iterable[str]) -> Iterator[int]:
        for line in lines:
            record = json.loads(line)
            del record["topic"], record["offset"]
            yield hash(json.dumps(record, sort_keys=True))

    with file.open() as lines:
        return Counter(entries(lines))


if __name__ == "__main__":
    sys.exit(main())
