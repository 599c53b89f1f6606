"""One run of a row with a client, on a broker of its own."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

from odradek import Emulator
from odradek.storage import MemoryDisk

from tests.situations.apps.app import TOPIC, Apps, ClientRaised, NoOutcome
from tests.situations.judging import RECOVERS, Outcome, raised
from tests.situations.rows import NeverMet, Row
from tests.situations.stage import LIMIT_S, Stage

EVIDENCE = Path("build/situations")


def play(row: Row, apps: Apps) -> tuple[Outcome, str]:
    """What the client did, and the broker's timeline."""
    config = {"group.initial.rebalance.delay.ms": 0, **row.config}
    with Emulator(config, topics={TOPIC: 1}, disk=MemoryDisk()) as kafka:
        try:
            outcome = row.run(Stage(kafka, apps))
            if outcome.text == RECOVERS:
                outcome = outcome._replace(text=row.well)
        except NeverMet:
            outcome = Outcome("does not meet it")
        except ClientRaised as error:
            outcome = Outcome(f"does not start: {raised(error)}")
        except NoOutcome:
            outcome = Outcome(f"does not start within {LIMIT_S:.0f} s")
        timeline = kafka.timeline()
        kafka.excuse_faults()
        kafka.stop_quietly("tests.situations")
    return outcome, timeline


def of_client(client: str, rows: list[Row], times: int) -> None:
    """Run these rows, and keep what was seen: for the table as JSON, and each timeline."""
    from tests.situations.apps import apps

    logging.disable(logging.CRITICAL)  # clients tell what is judged here
    these = apps(client)
    path = results_of(client)
    found: dict[str, Any] = {"client": these.name, "version": these.version, "rows": {}}
    if path.exists():
        found["rows"] = json.loads(path.read_text())["rows"]
    for row in rows:
        outcomes = []
        for number in range(times):
            outcome, timeline = play(row, these)
            outcomes.append(outcome)
            evidence = EVIDENCE / client / f"{_file_name(row.key)}-{number + 1}.txt"
            evidence.parent.mkdir(parents=True, exist_ok=True)
            evidence.write_text(f"{row.key}\n{client}: {outcome}\n\n{timeline}\n")
            print(f"{client}: {row.key}: {outcome.text} ({outcome.seconds})", flush=True)
        found["rows"][row.key] = outcomes
        path.write_text(json.dumps(found, indent=1) + "\n")


def results_of(client: str) -> Path:
    """Where the results of a client are kept."""
    EVIDENCE.mkdir(parents=True, exist_ok=True)
    return EVIDENCE / f"{client}.json"


def _file_name(text: str) -> str:
    return "".join(each if each.isalnum() else "-" for each in text)
