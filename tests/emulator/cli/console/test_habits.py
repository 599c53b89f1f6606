"""What people type who know other tools does what they mean."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from odradek.emulator import Emulator
from odradek.emulator.cli.console.habits import VARIABLE, NoAddress, with_address
from odradek.emulator.cli.main import main

HERE = "127.0.0.1:9"


@pytest.mark.parametrize(
    ("given", "known", "becomes"),
    [
        (["topics", HERE, "list"], "", ["topics", HERE, "list"]),
        (["topics", "kafka", "list"], "", ["topics", "kafka", "list"]),
        (["topics", "list", "--bootstrap-server", HERE], "", ["topics", HERE, "list"]),
        (["topics", f"--bootstrap-server={HERE}", "list"], "", ["topics", HERE, "list"]),
        (["topics", "-b", HERE, "show", "a"], "other:1", ["topics", HERE, "show", "a"]),
        (["records", "orders", "--brokers", HERE], "", ["records", HERE, "orders"]),
        (["topics"], HERE, ["topics", HERE]),
        (["records", "orders", "-n", "1"], HERE, ["records", HERE, "orders", "-n", "1"]),
        (["records", "other:1,b:2", "orders"], HERE, ["records", "other:1,b:2", "orders"]),
        (["topics", "--help"], "", ["topics", "--help"]),
        (["topics", "ls", "-X", "a=b"], HERE, ["topics", HERE, "-X", "a=b", "ls"]),
        (["topics", HERE, "ls", "--timeout", "3"], "", ["topics", HERE, "--timeout", "3", "ls"]),
        (["topics", "--list", "-b", HERE], "", ["topics", HERE, "list"]),
        (["topics", "--topic", "a", "--delete"], HERE, ["topics", HERE, "delete", "a"]),
        (["acls", HERE, "--list", "--topic", "a"], "", ["acls", HERE, "list", "--topic", "a"]),
    ],
)
def test_the_address_is_found(given: list[str], known: str, becomes: list[str]) -> None:
    assert with_address(given, {VARIABLE: known}) == becomes


@pytest.mark.parametrize("given", [["topics"], ["topics", "ls"], ["groups", "describe", "billing"]])
def test_without_one_it_is_asked_for(given: list[str]) -> None:
    with pytest.raises(NoAddress, match=rf"odradek {given[0]} HOST:PORT .*, or set {VARIABLE}"):
        with_address(given, {})


def test_a_command_without_an_address_ends_with_status_2(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(SystemExit) as ended:
        main(["topics", "list"])
    assert ended.value.code == 2
    assert "which broker? odradek topics HOST:PORT list" in capsys.readouterr().err


def test_names_of_other_tools(
    kafka: Emulator, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, kafka.bootstrap_servers)

    def said(line: str) -> str:
        assert main(line.split()) == 0
        return capsys.readouterr().out

    created = said("topic create new -p 3 -r 1 --config retention.ms=5000")
    assert created == "created new\n"
    assert said("topics ls") == said("topics list") == said("topics")
    assert said("topics describe new") == said("topics show new")
    assert said("topics add-partitions new -p 4") == "grown new\n"
    kafka.topic("orders").produce("x", partition=1)
    same = said("records orders")
    assert said("consume orders --from-beginning -n 1") == same
    assert said("consume orders -o earliest -p 1 --max-messages 1") == same
    assert said("topics rm new") == "deleted new\n"


def test_every_view_as_json(
    kafka: Emulator, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, kafka.bootstrap_servers)

    def told(line: str) -> list[object]:
        assert main(line.split()) == 0
        return [json.loads(each) for each in capsys.readouterr().out.splitlines()]

    kafka.topic("orders").produce("x", partition=1)
    kafka.group("billing").commit({("orders", 1): 0})
    orders = {"topic": "orders", "partitions": 2, "replicas": 1, "offsets": 1}
    assert told("topics --json") == told("topics list --json") == [orders]
    main(["configs", kafka.bootstrap_servers, "topic", "orders", "--set", "segment.ms=7000"])
    capsys.readouterr()
    assert told("topics show orders --json") == [
        {
            "topic": "orders",
            "configs": {"segment.ms": "7000"},
            "partitions": [
                {
                    "partition": n,
                    "leader": 1,
                    "replicas": [1],
                    "in_sync": [1],
                    "first": 0,
                    "next": n,
                }
                for n in range(2)
            ],
        }
    ]
    assert told("configs topic orders --json") == [
        {"config": "segment.ms", "value": "7000", "source": "topic"}
    ]
    assert told("configs group billing --json") == []
    (listed,) = told("groups ls --json")
    assert listed == {
        "group": "billing",
        "type": "classic",
        "state": "Empty",
        "members": 0,
        "lag": 1,
    }
    (shown,) = told("groups describe billing --json")
    assert isinstance(shown, dict)
    assert shown["offsets"] == [
        {
            "topic": "orders",
            "partition": 1,
            "committed": 0,
            "next": 1,
            "lag": 1,
            "member": None,
        }
    ]


def test_what_is_misspelt_is_answered_with_what_is_likely_meant(
    kafka: Emulator, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, kafka.bootstrap_servers)

    def said(line: str) -> str:
        with suppress(SystemExit):  # with status 2, of what is wrong before a broker is asked
            assert main(line.split()) == 1
        return capsys.readouterr().err.splitlines()[-1]

    assert said("records order") == "odradek: there is no topic order: is orders meant?"
    assert said("records nothing-like-it") == "odradek: there is no topic nothing-like-it"
    assert said("topics create new --config retention=1").endswith(
        "(Unknown topic config name: retention; is retention.ms meant?)"
    )
    assert said("configs topic orders --set retention.msec=1").endswith("; is retention.ms meant?)")
    wrong = "odradek records: error: unrecognized arguments: --folow; is --follow meant?"
    assert said("records orders --folow") == wrong
    other = "odradek groups: error: unrecognized arguments: --yes"  # an option of other actions
    assert said("groups reset g --to 0 --yes") == other


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (["topcis", HERE], "topics"),
        (["topics", HERE, "craete", "a"], "create"),
        (["transactions", HERE, "aborrt"], "abort"),
    ],
)
def test_a_mistyped_verb_or_action_is_answered_with_the_likely_one(
    given: list[str], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(given)
    said = capsys.readouterr().err
    assert f"; is {meant} meant?" in said
    assert said.startswith(f"usage: odradek {given[0] if meant != 'topics' else '['}"[:15])
