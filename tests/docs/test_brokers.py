"""docs/brokers.md: every example runs as it stands, every verb of brokers is there, and commands
print what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from odradek import Emulator
from odradek.compat.cli.main import main
from odradek.compat.wire_client.moving import Moving
from odradek.fixtures.kafka.broker_view import BrokerView
from odradek.fixtures.kafka.composed import Verb
from odradek.fixtures.kafka.verbs import EmulatorVerbs

from tests.support.sessions import run as run_session

TEXT = (Path(__file__).parents[2] / "docs/brokers.md").read_text()
STEPS = re.findall(
    r"^\$ odradek (.*)\n((?:(?!\$ ).*\n)*)",
    "".join(re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL)),
    re.MULTILINE,
)
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def test_every_example_passes(pytester: pytest.Pytester) -> None:
    """Together, in the order of the page: later ones use the imports of earlier ones."""
    pytest.importorskip("confluent_kafka")
    examples = "\n\n".join(BLOCKS)
    pytester.makepyfile(examples)
    result = run_session(pytester)
    result.assert_outcomes(passed=len(re.findall(r"^ *def test_", examples, re.MULTILINE)))


def test_every_verb_is_reported() -> None:
    verbs = [name for face in (BrokerView, Moving) for name in vars(face)]
    verbs += [
        name
        for name, verb in vars(EmulatorVerbs).items()
        if isinstance(verb, Verb) and verb.part == "brokers"
    ]
    verbs = [name for name in (*verbs, "controller") if not name.startswith("_")]
    assert [name for name in verbs if name not in TEXT] == []


def test_commands_print_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    """But for the addresses, and with them the width of their column."""
    with Emulator(brokers=3, racks=["a", "b", "c"]) as kafka:
        kafka.create_topic("orders", partitions=2)
        for index in (0, 1):
            kafka.topic("orders")[index].reassign([index + 1, 2 - index])
        names = {each.address: f"localhost:{9091 + each.id}" for each in kafka.brokers}
        assert len(STEPS) == 5
        for command, said in STEPS:
            view, *arguments = command.split()
            assert main([view, kafka.bootstrap_servers, *arguments]) == 0
            out = capsys.readouterr().out
            for address, name in names.items():
                out = out.replace(address, name)
            assert [line.split() for line in out.splitlines()] == [
                line.split() for line in said.splitlines()
            ]
