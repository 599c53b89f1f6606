"""The definition of a config: its name, its type, and which texts are values of it.

A table of configs is text, one row for each:

    name  TYPE  default  rule  mode  #reason
        from a.brokers.config, another * 60000
        A sentence that says what it is for.

- default: `-` is null, `""` empty.
- rule: `1..` at least 1, `0..9` a range, `-1,1..9` a range or that one value, `a|b` one of these
  (for a LIST: each item), `~a|b` whatever the case, `!` not empty (`!a|b` both), `unique` and
  `unique:a|b` for a LIST whose repeated items are dropped instead of refused, `repeated:a|b` for
  one that may be empty and whose items may come again, `version:` and a pattern, `api:` and the
  newest version that api_versions.py may name, `codec:a|b` one of these whatever the case, in the
  words of releases before 3.0, `free` for a LIST
  of whatever, `replicas` for throttled replicas, `offsets` for where a share group begins, `*` or
  nothing anything.
- mode: for whom it may be changed while a broker runs: `cluster` (all brokers at once, or one),
  `broker` (one), empty (none); `internal` configs are only shown where they are set.
- reason: why nothing here obeys it, by a key of inert.py; without one it is obeyed.
- from: the configs of a broker that give a topic's or a group's its default, where they are in
  another unit with a factor. The first that is not null counts.
- The sentence is what DescribeConfigs has for documentation. This line and the one before it may
  be left out.

Texts are read as Kafka reads them: blanks around them are dropped, numbers are Java's. The
sentences of ConfigError are what a client shows its user. Source: Kafka 4.3.1's own definitions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from enum import IntEnum
from operator import mul
from typing import Any, NamedTuple, TypeAlias

Value: TypeAlias = Any
"""A bool, int, float, str, list of str, or None: which one, its Kind says."""


class Kind(IntEnum):
    """A config's type, with its number in DescribeConfigs."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class Source(IntEnum):
    """Where a value comes from, with its number in DescribeConfigs."""

    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    DYNAMIC_BROKER_LOGGER = 6
    CLIENT_METRICS = 7
    GROUP = 8


class ConfigError(ValueError):
    """A config does not exist, or cannot have that value. `str` is the whole sentence."""

    def __init__(self, name: str, sentence: str) -> None:
        super().__init__(sentence)
        self.name = name


class Synonym(NamedTuple):
    """One of the places that a value was looked for in, most specific first."""

    name: str
    value: str | None
    source: int


class Row(NamedTuple):
    """One config of a resource as DescribeConfigs shows it."""

    name: str
    value: str | None
    kind: int
    source: int
    synonyms: tuple[Synonym, ...]
    is_sensitive: bool = False
    is_read_only: bool = False


class BrokerName(NamedTuple):
    """A broker config that gives another config its default, and by what its unit is larger."""

    name: str
    factor: int = 1


class Definition(NamedTuple):
    name: str
    kind: Kind
    default_text: str | None
    default: Value
    rule: str
    mode: str
    reason: str = ""
    """A key of inert.py; empty for what is obeyed."""
    brokers: tuple[BrokerName, ...] = ()
    documentation: str | None = None

    @property
    def is_sensitive(self) -> bool:
        """True for passwords, which are never shown, and for what may be one."""
        return self.kind in (Kind.PASSWORD, Kind.UNKNOWN)

    @property
    def is_read_only(self) -> bool:
        return not self.mode

    def default_from(self, brokers: Mapping[str, Value]) -> Value:
        for name, factor in self.brokers:
            value = brokers[name]
            if value is not None:
                return value if factor == 1 else max(-1, value * factor)
        return self.default

    def parse(self, text: str | None) -> Value:
        """The value that a text means. Raises ConfigError with Kafka's sentence."""
        value = _parse(self, text)
        if isinstance(value, list):
            return _check_list(self, value)
        if value is not None and self.rule:
            _check(self, value)
        return value


def parse_table(table: str) -> dict[str, Definition]:
    """Read a table, as the head of this module describes it."""
    definitions: dict[str, Definition] = {}
    for line in table.strip().splitlines():
        if not line.startswith(" "):
            row = _row(line)
        elif line.startswith(_FROM):
            row = row._replace(brokers=tuple(map(_broker_name, line[len(_FROM) :].split(", "))))
        else:
            row = row._replace(documentation=line.strip())
        definitions[row.name] = row
    return definitions


_FROM = "    from "


def _row(line: str) -> Definition:
    line, _, reason = line.partition(" #")
    name, kind, default, rule, mode = [*line.split(), "", ""][:5]
    text = {"-": None, '""': ""}.get(default, default)
    rule = "" if rule == "*" else rule
    bare = Definition(name, Kind[kind], text, None, rule, mode, reason)
    return bare._replace(default=_parse(bare, text))


def _broker_name(text: str) -> BrokerName:
    name, _, factor = text.partition(" * ")
    return BrokerName(name, int(factor or 1))


def show(value: Value) -> str | None:
    """A value as text, the way Java writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _show_double(value)
    if isinstance(value, list):
        return ",".join(value)
    return None if value is None else str(value)


_BLANKS = "".join(map(chr, range(33)))
_COMMA = re.compile(r"\s*,\s*")
_INTEGER = re.compile(r"[+-]?\d+")
_DOUBLE = re.compile(
    r"[+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?)"
)
_BITS = {Kind.SHORT: 15, Kind.INT: 31, Kind.LONG: 63}
_THROTTLED = re.compile(r"([0-9]+:[0-9]+)?")


def invalid(definition: Definition, value: str | None, reason: str) -> ConfigError:
    name = definition.name
    return ConfigError(name, f"Invalid value {value} for configuration {name}: {reason}")


def _parse(definition: Definition, text: str | None) -> Value:
    if text is None:
        return None
    kind, trimmed = definition.kind, text.strip(_BLANKS)
    if kind is Kind.BOOLEAN:
        if trimmed.lower() not in ("true", "false"):
            raise invalid(definition, text, "Expected value to be either true or false")
        return trimmed.lower() == "true"
    if kind is Kind.LIST:
        return _COMMA.split(trimmed) if trimmed else []
    if kind is Kind.DOUBLE:
        if not _DOUBLE.fullmatch(trimmed):
            raise invalid(definition, text, "Not a number of type DOUBLE")
        return float(trimmed.rstrip("fFdD") if trimmed[-1:] in "fFdD" else trimmed)
    if kind in _BITS:
        limit = 1 << _BITS[kind]
        if not _INTEGER.fullmatch(trimmed) or not -limit <= int(trimmed) < limit:
            raise invalid(definition, text, f"Not a number of type {kind.name}")
        return int(trimmed)
    return trimmed


def _check(definition: Definition, value: Any) -> None:
    rule = definition.rule
    if rule.startswith("version:"):
        if not re.fullmatch(rule.removeprefix("version:"), value.strip()):
            raise invalid(definition, value, f"Version {value} is not a valid version")
    elif rule.startswith("api:"):
        from .api_versions import is_known  # of releases before 3.0 alone

        if not is_known(value, rule.removeprefix("api:")):
            raise invalid(definition, value, f"Version `{value}` is not a valid version")
    elif rule.startswith("codec:"):
        _check_codec(definition, rule.removeprefix("codec:").split("|"), value)
    elif ".." in rule:
        _check_range(definition, rule, value)
    elif rule.startswith("!"):
        if not value:
            raise invalid(definition, value, "String must be non-empty")
    elif rule.startswith("~"):
        if value.upper() not in rule[1:].split("|"):
            names = ", ".join(rule[1:].split("|"))
            raise invalid(definition, value, f"String must be one of (case insensitive): {names}")
    elif rule == "offsets":
        _check_beginning(definition, value)
    else:
        _check_choice(definition, rule, value)


# Days, hours, minutes and seconds, as Java's Duration reads them.
_DURATION = re.compile(
    r"([+-]?)P(?!$)(?:([+-]?[0-9]+)D)?(?:T(?!$)(?:([+-]?[0-9]+)H)?(?:([+-]?[0-9]+)M)?"
    r"(?:([+-]?[0-9]+(?:[.,][0-9]{0,9})?)S)?)?",
    re.IGNORECASE,
)
_SECONDS = (86_400, 3600, 60, 1)


def _check_beginning(definition: Definition, value: str) -> None:
    """`earliest`, `latest`, or `by_duration:` and a duration that is not negative."""
    seconds = seconds_before(value)
    if value not in ("earliest", "latest") and (seconds is None or seconds < 0):
        raise invalid(
            definition,
            value,
            f"Invalid value `{value}` for configuration {definition.name}. The value must be either"
            " 'earliest', 'latest' or of the format 'by_duration:<PnDTnHnMn.nS>'.",
        )


def seconds_before(value: str) -> float | None:
    """How long before now a share group begins, in seconds: by `by_duration:` and a duration. None
    for anything else."""
    how, _, text = value.partition(":")
    found = _DURATION.fullmatch(text) if how == "by_duration" else None
    if found is None:
        return None
    numbers = [float((part or "0").replace(",", ".")) for part in found.groups()[1:]]
    seconds: float = sum(map(mul, numbers, _SECONDS))
    return -seconds if found[1] == "-" else seconds


def _check_range(definition: Definition, rule: str, value: Any) -> None:
    other, _, span = rule.rpartition(",")
    low, _, high = span.partition("..")
    if other:
        if str(value) != other and not int(low) <= value <= int(high):
            reason = f"Value must be between {low} and {high} or equal to {other}"
            raise invalid(definition, show(value), reason)
        return
    # Not a number passes every comparison that would refuse it, in Java too.
    if low and value < float(low):
        raise invalid(definition, show(value), f"Value must be at least {low}")
    if high and value > float(high):
        raise invalid(definition, show(value), f"Value must be no more than {high}")


def _check_choice(definition: Definition, choices: str, value: str) -> None:
    if choices and value not in choices.split("|"):
        names = ", ".join(choices.split("|"))
        raise invalid(definition, value, f"String must be one of: {names}")


def _check_codec(definition: Definition, codecs: list[str], value: str) -> None:
    if value.lower() not in codecs:
        name, known = definition.name, ",".join(codecs)
        sentence = f"{name} : {value} is not valid. Valid options are {known}"
        raise ConfigError(name, f"requirement failed: {sentence}")


def _check_list(definition: Definition, items: list[str]) -> list[str]:
    name, rule = definition.name, definition.rule
    if rule == "replicas":
        if "".join(items).strip() != "*" and not all(map(_THROTTLED.fullmatch, items)):
            raise invalid(
                definition,
                f"[{', '.join(items)}]",
                f"{name} must be the literal '*' or a list of replicas in the following format: "
                "[partitionId]:[brokerId],[partitionId]:[brokerId],...",
            )
        return items
    if rule == "free":
        return items
    if rule.startswith("repeated:"):
        for item in items:
            _check_choice(definition, rule.removeprefix("repeated:"), item)
        return items
    unique = rule.startswith("unique")
    choices = rule.removeprefix("unique").lstrip("!:")
    if rule.startswith("!") and not items:
        valid = f"[{choices.replace('|', ', ')}]" if choices else "any non-empty value"
        raise ConfigError(
            name, f"Configuration '{name}' must not be empty. Valid values include: {valid}"
        )
    for item in items:
        if not item:
            raise ConfigError(name, f"Configuration '{name}' values must not be empty.")
        _check_choice(definition, choices, item)
    distinct = list(dict.fromkeys(items))
    if len(distinct) < len(items) and not unique:
        raise ConfigError(name, f"Configuration '{name}' values must not be duplicated.")
    return distinct


def _show_double(value: float) -> str:
    """Java's Double.toString: digits for the middle range, else one digit, point, exponent."""
    if value != value or value in (float("inf"), float("-inf")):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    sign, digits, _ = Decimal(repr(value)).normalize().as_tuple()
    first, rest = digits[0], "".join(map(str, digits[1:])) or "0"
    return f"{'-' * sign}{first}.{rest}E{Decimal(repr(value)).adjusted()}"
