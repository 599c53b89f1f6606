"""What people type who know other tools does what they mean."""

from __future__ import annotations

import json
from contextlib import suppress
from fnmatch import fnmatchcase

import pytest
from odradek import Emulator
from odradek.compat.cli.console.aliases import VARIABLE, NoAddress, with_address
from odradek.compat.cli.console.scripts import Unclear, as_here
from odradek.compat.cli.main import main

from tests.requests.groups import joined
from tests.support.connection import Connection

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
        (["topics", "ls", HERE], "", ["topics", HERE, "ls"]),
        (["topics", "show", HERE, "a"], "other:1", ["topics", HERE, "show", "a"]),
        (["topics", "show", "a", "kafka:9092"], "", ["topics", "kafka:9092", "show", "a"]),
        (["records", "--json", HERE, "a"], "", ["records", HERE, "--json", "a"]),
        (["records", "a", "--key", "b:9092"], HERE, ["records", HERE, "a", "--key", "b:9092"]),
        (["brokers", "elect", "orders:0"], HERE, ["brokers", HERE, "elect", "orders:0"]),
        (["topics", "create", "--help"], "", ["topics", "localhost:9092", "create", "--help"]),
        (["consume", "-b", HERE, "-t", "a"], "", ["records", HERE, "a"]),
    ],
)
def test_the_address_is_found(given: list[str], known: str, becomes: list[str]) -> None:
    assert with_address(given, {VARIABLE: known}) == becomes


@pytest.mark.parametrize(
    "given",
    [
        ["topics"],
        ["topics", "ls"],
        ["groups", "describe", "billing"],
        ["records", "orders"],
        ["produce", "-t", "orders"],
        ["brokers", "elect", "orders:0"],
    ],
)
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

    def objects(line: str) -> list[object]:
        assert main(line.split()) == 0
        return [json.loads(each) for each in capsys.readouterr().out.splitlines()]

    kafka.topic("orders").produce("x", partition=1)
    kafka.group("billing").commit({("orders", 1): 0})
    orders = {"topic": "orders", "partitions": 2, "replicas": 1, "offsets": 1}
    assert objects("topics --json") == objects("topics list --json") == [orders]
    main(["configs", kafka.bootstrap_servers, "topic", "orders", "--set", "segment.ms=7000"])
    capsys.readouterr()
    assert objects("topics show orders --json") == [
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
    assert objects("configs topic orders --json") == [
        {"config": "segment.ms", "value": "7000", "source": "topic"}
    ]
    assert objects("configs group billing --json") == []
    (listed,) = objects("groups ls --json")
    assert listed == {
        "group": "billing",
        "type": "classic",
        "state": "Empty",
        "members": 0,
        "lag": 1,
    }
    (shown,) = objects("groups describe billing --json")
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
    ("given", "said"),
    [
        (["topcis", HERE], "there is no command 'topcis'; is topics meant?"),
        (["topics", HERE, "craete", "a"], "is create meant?"),
        (["transactions", HERE, "aborrt"], "is abort meant?"),
        (["quux"], "there is no command 'quux'; the nearest are "),
        (["produce", HERE, "a", "--vlaue", "x"], "is --value meant?"),
        (["records", HERE, "a", "--vlaue", "x"], "is --value meant?"),
        (["produce", HERE, "a", "--xyzzy"], "unrecognized arguments: --xyzzy\n"),
        (["groups", HERE, "--shift-by", "3"], "groups reset NAME --to OFFSET"),
    ],
)
def test_what_is_wrong_stands_under_one_line_of_usage(
    given: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(given)
    usage, error = capsys.readouterr().err.splitlines(keepends=True)
    assert ended.value.code == 2
    assert usage.startswith("usage: odradek ")
    assert usage.endswith(" [OPTIONS], or --help\n")
    assert said in error
    assert error.count(", ") <= 2


@pytest.mark.parametrize(
    ("given", "becomes"),
    [
        ("topics --create --if-not-exists --topic a --partitions 3", "create * a"),
        ("topics --alter --topic a --partitions 6", "grow --partitions 6 a"),
        ("topics --list --exclude-internal", "list"),
        ("groups --describe --group g --members --verbose", "show --members g"),
        ("groups --describe --all-groups", "show --all-groups"),
        ("groups --reset-offsets --group g --all-topics --to-earliest --execute", "reset * g"),
        ("groups --reset-offsets --group g --to-latest", "reset --to latest --dry-run g"),
        ("groups --reset-offsets --group g --dry-run --to-offset 3", "reset --dry-run --to 3 g"),
        ("groups --reset-offsets --by-duration P1DT1H2M3S --execute", "reset --to 90123s"),
        ("groups --reset-offsets --to-datetime 2026-01-31T12:00 --execute", "* *+00:00"),
        ("groups --reset-offsets --to-datetime 2026-01-31T12:00Z --execute", "* *00Z"),
        ("groups --delete-offsets --group g --topic t:0,2", "forget --topic t:0 --topic t:2 g"),
        ("groups --delete --group g --group h", "delete g h"),
        ("configs --entity-type topics --entity-name o --describe --all", "topic --all o"),
        ("configs --entity-type brokers --entity-default --describe", "broker"),
        ("configs --topic o --alter --add-config a=1,b=[2,3]", "topic --set a=1 --set b=2,3 o"),
        ("configs --topic o --alter --delete-config a,b", "topic --unset a --unset b o"),
        ("records --topic o --property print.key=true --timeout-ms 500", "o"),
        ("records -C -torders -o beginning -e", "orders -o beginning"),
        ("records --topic o --isolation-level read_committed", "o --committed"),
        ("records --topic o --isolation-level=read_uncommitted", "o"),
        ("records o --consumer-property security.protocol=SSL", "o -X security.protocol=SSL"),
        ("produce -P -t o -K: -l lines.txt", "o -K: lines.txt"),
        ("produce --topic o --property parse.key=true", "o --key-separator \\t"),
        ("produce --topic o lines.txt --acks=1", "o lines.txt --acks=1"),
        (
            "produce --topic o --property key.separator=: --property parse.key=true",
            "o --key-separator \\t --key-separator :",
        ),
    ],
)
def test_words_of_kafkas_scripts_and_of_kcat(given: str, becomes: str) -> None:
    """A star is anything."""
    view, *rest = given.split()
    assert fnmatchcase(" ".join(as_here(view, rest)), becomes)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("configs --entity-type users --entity-name a --describe", "odradek quotas set --user"),
        ("configs --entity-type things", "configs of things are not here: there are topics"),
        ("groups --reset-offsets --by-duration 15m", "'15m' is no duration, such as PT15M"),
        ("records --formatter kafka.tools.X", "--formatter is not here: --format and --decode"),
        ("topics --describe --under-replicated-partitions", "odradek brokers partitions --under"),
        ("produce -t a --property parse.headers=true", "odradek produce --json has keys and"),
    ],
)
def test_words_that_are_not_here_name_ours(given: str, said: str) -> None:
    view, *rest = given.split()
    with pytest.raises(Unclear) as raised:
        as_here(view, rest)
    assert said in str(raised.value)


def test_kafkas_words_do_what_they_say(
    kafka: Emulator, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, kafka.bootstrap_servers)

    def said(line: str) -> list[str]:
        assert main(line.split()) == 0
        out = capsys.readouterr()
        return [" ".join(each.split()) for each in (out.out + out.err).splitlines()]

    assert said("kafka-topics.sh --create --topic a --partitions 2") == ["created a"]
    assert said("topics --create --if-not-exists --topic a") == ["a is there"]
    assert said("topics --delete --if-exists --topic none") == []
    assert said("produce -t a --value x --value y -p 1") == ["2 records to a (2 to a-1)"]
    assert said("kafka-console-consumer --topic a -n 1 --format %s") == ["x"]
    assert said(
        "configs --entity-type topics --entity-name a --alter --add-config segment.ms=7"
    ) == [
        "config value source",
        "segment.ms 7 topic",
    ]
    for name in ("one", "two"):
        kafka.group(name).commit({("a", 1): 2})
    reset = "kafka-consumer-groups --reset-offsets --all-groups --topic a:1 --to-earliest"
    table = ["topic partition before after", "a 1 2 0"]
    assert [each for each in said(reset) if "is left" not in each] == table * 2
    assert said(f"{reset} --execute") == table * 2
    assert kafka.group("two").offsets() == {("a", 1): 0}
    assert said("groups --describe --all-groups --state") == [
        "one: Empty, classic",
        "two: Empty, classic",
    ]
    with Connection(kafka.bootstrap_servers) as client:
        member = str(joined(client, group_id="one").member_id)
        head, row = said("groups --describe --group one --members")[1:]
        assert head.startswith("member instance client")
        assert row.startswith(member)
    kafka.group("one").wait_empty()
    assert said("groups --delete --all-groups") == ["deleted one", "deleted two"]
    assert said("topic consume a -o start -n 1 -f %v") == ["x"]
