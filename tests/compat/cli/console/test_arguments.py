"""What is wrong on the command line is named, with status 2, before any broker is asked."""

from __future__ import annotations

import pytest
from odradek.compat.cli.main import main

NOBODY = "127.0.0.1:1"

WRONG = [
    (["topics", ""], "not an address of the form HOST:PORT: ''"),
    (["topics", "host:port"], "'host:port'"),
    (["topics", "host:0"], "'host:0'"),
    (["topics", ":9092"], "':9092'"),
    (["topics", "host:²"], "'host:²'"),
    (["topics", "host:9092,"], "not an address of the form HOST:PORT: ''"),
    (["topics", NOBODY, "--timeout", "nan"], "not a number of seconds, above 0"),
    (["topics", NOBODY, "--timeout", "0"], "at most a day: '0'"),
    (["topics", NOBODY, "--timeout=-1"], "'-1'"),
    (["topics", NOBODY, "--timeout", "1e30"], "'1e30'"),
    (["topics", NOBODY, "--timeout", "soon"], "'soon'"),
    (["topics", NOBODY, "nonsense"], "there is no action 'nonsense'; the nearest are create"),
    (["topics", NOBODY, "create"], "required: topic"),
    (["topics", NOBODY, "create", "t", "--partitions", "0"], "from 1 to 2147483647: '0'"),
    (["topics", NOBODY, "create", "t", "--partitions", "2147483648"], "'2147483648'"),
    (["topics", NOBODY, "create", "t", "--partitions", "9" * 5000], "999'"),
    (["topics", NOBODY, "create", "t", "--replicas", "40000"], "from 1 to 32767: '40000'"),
    (["topics", NOBODY, "create", "t", "--set", "segment.ms"], "not of the form CONFIG=VALUE"),
    (["topics", NOBODY, "create", "t", "--set", "=7"], "not of the form CONFIG=VALUE: '=7'"),
    (["topics", NOBODY, "grow", "t", "--partitions", "many"], "'many'"),
    (["topics", NOBODY, "grow", "t"], "required: -p/--partitions"),
    (["records", NOBODY, "t", "--from", "soon"], "--offset: 'soon' is no position"),
    (["records", NOBODY, "t", "--from", "²"], "'²' is no position"),
    (["records", NOBODY, "t", "--from", ""], "'' is no position"),
    (["records", NOBODY, "t", "--from", "0001-01-01"], "'0001-01-01' is no position"),
    (["records", NOBODY, "t", "--from", "9" * 5000], "is no position"),
    (["records", NOBODY, "t", "--key", "("], "--key: '(' is no regular expression: missing )"),
    (["records", NOBODY, "t", "--value", "*"], "--value: '*' is no regular expression"),
    (["records", NOBODY, "t", "--header", "x"], "not of the form NAME=REGEX: 'x'"),
    (["records", NOBODY, "t", "--header", "=x"], "not of the form NAME=REGEX: '=x'"),
    (["records", NOBODY, "t", "--header", "x=["], "--header: '[' is no regular expression"),
    (["records", NOBODY, "t", "--max", "0"], "--max-messages: not a whole number from 1"),
    (["records", NOBODY, "t", "--partition", "-1"], "--partition: not a whole number from 0"),
    (["groups", NOBODY, "reset", "g", "--to", "soon"], "--to: 'soon' is no position"),
    (["groups", NOBODY, "reset", "g"], "required: --to"),
    (["groups", NOBODY, "forget", "g"], "required: --topic"),
    (["groups", NOBODY, "forget", "g", "--topic", "t:²"], "neither NAME nor NAME:PARTITION"),
    (["groups", NOBODY, "forget", "g", "--topic", ":1"], "neither NAME nor NAME:PARTITION"),
    (["configs", NOBODY, "topic"], "required: name"),
    (["configs", NOBODY, "group"], "required: name"),
    (["configs", NOBODY], "required: KIND"),
    (["configs", NOBODY, "nonsense"], "invalid choice: 'nonsense'"),
    (["configs", NOBODY, "topic", "t", "--set", "1"], "not of the form CONFIG=VALUE: '1'"),
    (["configs", NOBODY, "topic", "t", "--unset", ""], "--delete-config: not a name: ''"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_a_wrong_argument_is_named(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    out = capsys.readouterr()
    assert out.out == ""
    assert message in out.err.splitlines()[-1]


RIGHT = [
    ["topics", NOBODY, "--timeout", "0.5"],
    ["topics", "[::1]:1,127.0.0.1:1"],
    ["topics", NOBODY, "create", "t", "--partitions", "2147483647", "--set", "a=b=c"],
    ["records", NOBODY, "t", "--from", "99999999999999999999", "--header", "x="],
    ["records", NOBODY, "t", "--from", "99999999999999999999d"],
    ["records", NOBODY, "t", "--from", "-99999999999999999999"],
    ["configs", NOBODY, "broker", "²"],
]


@pytest.mark.parametrize("arguments", RIGHT)
def test_what_is_right_goes_as_far_as_the_broker(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("odradek: no broker at ")


@pytest.mark.parametrize(
    ("host", "why"),
    [("a..b", "not a name of a host"), ("a" * 300, "not a name of a host")],
)
def test_a_host_that_can_be_none_is_named(
    host: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["topics", f"{host}:9092"]) == 1
    assert capsys.readouterr().err == f"odradek: no broker at {host}:9092: {why}\n"
