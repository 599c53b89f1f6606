"""Commands of Kafka's scripts, kcat and rpk in the words of a verb here.

    groups --reset-offsets --group g --topic t:0,1 --to-earliest     groups reset g --topic t:0
                                                                     --topic t:1 --to earliest
                                                                     --dry-run
    configs --entity-type topics --entity-name o --alter --add-config a=1,b=2
                                                                     configs topic o --set a=1
                                                                     --set b=2

Options that a verb has itself are in its own parser, under all their names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

# An option, a word in capitals if it has a value, and what it becomes: @ACTION, =NAME (which stands
# where the verb has its name), options, where VALUE is that value; or after ! what to type instead.
_TABLE = """
topics
    --list @list
    --describe @show
    --create @create
    --delete @delete
    --alter @grow
    --topic NAME =VALUE
    --exclude-internal
    --disable-rack-aware
    --topics-with-overrides ! odradek topics show NAME tells which configs were set
    --under-replicated-partitions ! odradek brokers partitions --under-replicated
    --unavailable-partitions ! odradek brokers partitions --offline
    --replica-assignment LIST ! odradek brokers reassign NAME --to 2,3 places a topic that is there
groups
    --list @list
    --describe @show
    --delete @delete
    --delete-offsets @forget
    --reset-offsets @reset
    --group NAME =VALUE
    --all-topics
    --offsets
    --verbose
    --execute
    --to-earliest --to earliest
    --to-latest --to latest
    --to-offset N --to VALUE
    --to-current ! odradek groups show NAME; to stay there is nothing to do
    --shift-by N ! odradek groups reset NAME --to OFFSET; odradek groups show NAME has the offsets
    --from-file FILE ! odradek groups reset NAME --topic TOPIC:PARTITION --to OFFSET, one by one
    --export ! odradek groups show NAME --json
    --remove-members-from-consumer-group ! odradek groups kick NAME --all
configs
    --describe
    --alter
    --entity-default
    --entity-name NAME =VALUE
    --topic NAME @topic =VALUE
    --broker ID @broker =VALUE
    --group NAME @group =VALUE
    --broker-defaults @broker
    --add-config-file FILE ! --set CONFIG=VALUE for each of them
    --user NAME ! odradek quotas set --user NAME producer_byte_rate=1000000, or odradek users
    --client ID ! odradek quotas set --client-id ID producer_byte_rate=1000000
    --ip IP ! odradek quotas set --ip IP connection_creation_rate=10
acls
    --list @list
    --add @add
    --remove @remove
records
    --topic NAME =VALUE
    -t NAME =VALUE
    -C
    -e
    -q
    -u
    -J --json
    --timeout-ms N
    --consumer-property NAME=VALUE -X VALUE
    --command-property NAME=VALUE -X VALUE
    --formatter-property NAME=VALUE
    --skip-message-on-error
    --formatter CLASS ! --format and --decode; records of internal topics are in words
    --key-deserializer CLASS ! --decode key=int64, or another kind
    --value-deserializer CLASS ! --decode value=int64, or another kind
    --include REGEX ! odradek records TOPIC, one by one
    --whitelist REGEX ! odradek records TOPIC, one by one
    -Z ! --format '{value}', where null is nothing
produce
    --topic NAME =VALUE
    -t NAME =VALUE
    -P
    -q
    -l FILE +VALUE
    --sync
    --producer-property NAME=VALUE -X VALUE
    --command-property NAME=VALUE -X VALUE
    -D TEXT ! lines end where a line ends; odradek produce --json has values of any kind
    -Z ! --null TEXT, a key or value that is null
    --line-reader CLASS ! --json, or --key-separator
"""
_KINDS = {"topics": "topic", "brokers": "broker", "groups": "group"}
_NOT_HERE = {
    "users": "odradek quotas set --user NAME producer_byte_rate=1000000, or odradek users",
    "clients": "odradek quotas set --client-id ID producer_byte_rate=1000000",
    "ips": "odradek quotas set --ip IP connection_creation_rate=10",
}
_DURATION = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.\d*)?S)?)?")
_UNITS_S = (86_400, 3600, 60, 1)
_HAS_ZONE = re.compile(r"(Z|[+-]\d\d(:?\d\d)?)$")


class Unclear(Exception):
    """An option that is unclear; the message says the one to type."""


class _Rule(NamedTuple):
    has_value: bool
    words: tuple[str, ...] = ()
    instead: str = ""


class _Word(NamedTuple):
    """Of a command: `mark` is "@" for its action, "=" for a name, "+" for a file,
    "<" for what others may overrule."""

    text: str
    mark: str = ""


def as_here(view: str, rest: Sequence[str]) -> list[str]:
    """The words after a verb, without an address, as this verb has them. Raises Unclear."""
    found = list(_translated(view, rest))
    of: dict[str, list[str]] = {mark: [] for mark in ("", "<", "@", "=", "+")}
    for each in found:
        of[each.mark].append(each.text)
    if of["@"] == ["reset"] and not {"--execute", "--dry-run"} & {*rest}:
        of[""].append("--dry-run")  # as Kafka's script has it
    if view in ("records", "produce"):
        return [*of["="], *of["<"], *of[""], *of["+"]]
    return [*of["@"], *of[""], *of["="]]


def flags(view: str) -> set[str]:
    """Options without a value that only other tools have."""
    return {option for option, rule in _rules(view).items() if not rule.has_value}


def _translated(view: str, rest: Sequence[str]) -> Iterator[_Word]:
    rules, own = _rules(view), _OWN.get(view, {})
    left = iter(rest)
    for each in left:
        option, equals, value = each.partition("=")
        if option not in rules and option not in own:
            option, equals, value = each[:2], each[2:], each[2:]  # -tNAME
            if not value or each.startswith("--"):
                option = each
        rule = rules.get(option) or _Rule(has_value=option in own)
        if option not in rules and option not in own:
            yield _Word(each)
            continue
        if rule.instead:
            raise Unclear(f"{option} is not here: {rule.instead}")
        if rule.has_value and not equals:
            value = next(left, "")
        if option in own:
            yield from own[option](value)
        else:
            for word in rule.words:
                mark = word[:1] if word[:1] in "@=+" else ""
                yield _Word(value if word[len(mark) :] == "VALUE" else word[len(mark) :], mark)


def _rules(view: str) -> dict[str, _Rule]:
    found: dict[str, _Rule] = {}
    current = ""
    for line in _TABLE.strip().splitlines():
        if not line.startswith(" "):
            current = line
        elif current == view:
            option, *words = line.split()
            has_value = bool(words) and words[0].isupper()
            words = words[has_value:]
            if words[:1] == ["!"]:
                found[option] = _Rule(has_value, instead=line.partition("! ")[2])
            else:
                found[option] = _Rule(has_value, tuple(words))
    return found


# Options whose value is taken apart.


def _topics(value: str) -> Iterator[_Word]:
    """TOPIC:0,1"""
    name, colon, partitions = value.partition(":")
    for each in partitions.split(",") if colon else [""]:
        yield from (_Word("--topic"), _Word(f"{name}{colon}{each}"))


def _age(value: str) -> Iterator[_Word]:
    """P1DT2H3M4S"""
    found = _DURATION.fullmatch(value)
    if found is None or value[-1:] in "PT":
        raise Unclear(f"{value!r} is no duration, such as PT15M; --to 15m is the same")
    ago = sum(int(n or 0) * unit for n, unit in zip(found.groups(), _UNITS_S, strict=True))
    yield from (_Word("--to"), _Word(f"{ago}s"))


def _time(value: str) -> Iterator[_Word]:
    """Kafka's script means UTC."""
    yield from (_Word("--to"), _Word(value if _HAS_ZONE.search(value) else f"{value}+00:00"))


def _kind(value: str) -> Iterator[_Word]:
    name = value if value.endswith("s") else f"{value}s"
    if name not in _KINDS:
        meant = _NOT_HERE.get(name, f"there are {', '.join(_KINDS)}")
        raise Unclear(f"configs of {value} are not here: {meant}")
    yield _Word(_KINDS[name], "@")


def _settings(value: str) -> Iterator[_Word]:
    """A=B,C=[D,E]"""
    for each in re.split(r",(?=[^\]]*(?:\[|$))", value):
        yield from (_Word("--set"), _Word(re.sub(r"=\[(.*)\]$", r"=\1", each)))


def _names(value: str) -> Iterator[_Word]:
    for each in value.split(","):
        yield from (_Word("--unset"), _Word(each))


def _isolation(value: str) -> Iterator[_Word]:
    if value == "read_committed":
        yield _Word("--committed")


def _shown(value: str) -> Iterator[_Word]:
    """print.key=true and the like: a line has it all."""
    return iter(())


def _read(value: str) -> Iterator[_Word]:
    """How Kafka's console producer takes lines apart."""
    name, _, of_it = value.partition("=")
    if name == "key.separator":
        yield from (_Word("--key-separator"), _Word(of_it))
    elif name == "parse.key" and of_it == "true":  # a tab, unless a separator is named
        yield from (_Word("--key-separator", "<"), _Word("\\t", "<"))
    elif name == "null.marker":
        yield from (_Word("--null"), _Word(of_it))
    elif name != "parse.key":
        raise Unclear(f"{value} is not here: odradek produce --json has keys and headers")


_OWN: dict[str, dict[str, Callable[[str], Iterator[_Word]]]] = {
    "groups": {"--topic": _topics, "--by-duration": _age, "--to-datetime": _time},
    "configs": {
        "--entity-type": _kind,
        "--add-config": _settings,
        "--delete-config": _names,
    },
    "records": {"--property": _shown, "--isolation-level": _isolation},
    "produce": {"--property": _read, "--reader-property": _read},
}
