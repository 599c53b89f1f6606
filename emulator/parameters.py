"""The arguments of an Emulator: each is checked before it is used.

TypeError for a wrong type, ValueError for an invalid value, Refused for a number of partitions that
no topic can have; the message has the argument's name, what is allowed and what was given. Names
and values of configs, and names of topics, are checked later, by Kafka's rules for them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from math import isfinite
from pathlib import Path
from reprlib import repr as shortened
from typing import Any, NamedTuple, cast

from ..storage import MemoryDisk
from ..storage.naming import Naming, naming_of
from ..wire import Error, Refused
from .base.addresses import Advertised, Listening, parse_address
from .base.clock import Clock, ManualClock, SystemClock, TestClock
from .base.release import Release, release_named
from .config.broker_rules import STANDARD_AUTHORIZER
from .metadata.topic_rules import LARGEST_REQUEST

ConfigValue = str | int | float | bool | Sequence[str]

DEFAULT = "default"
LOCAL = "127.0.0.1"
INSTANT, KAFKA_TIMING = "instant", "kafka"
"""Values of `timing`."""
_VALUE = "a str, a number, a bool, or a list of them"


def config_texts(given: Mapping[str, ConfigValue] | None, name: str = "config") -> dict[str, str]:
    """Configs as Kafka writes them: name to text."""
    texts = {}
    for key, value in _mapping(name, "a mapping, name of a config -> value", given).items():
        _check(isinstance(key, str), f"the name of a config in {name}", "a str", key)
        texts[key] = _config_text(f"{key} in {name}", value)
    return texts


def all_texts(given: Mapping[str, ConfigValue] | None, acls: bool) -> dict[str, str]:
    """Configs as Kafka writes them, and the one that asks for an authorizer, if one is wanted."""
    _check(isinstance(acls, bool), "acls", "True or False", acls)
    texts = {"authorizer.class.name": STANDARD_AUTHORIZER} if acls else {}
    return texts | config_texts(given)


def topic_config_texts(
    config: Mapping[str, ConfigValue] | None, configs: Mapping[str, ConfigValue] | None
) -> dict[str, str]:
    if config is not None and configs is not None:
        raise TypeError("config and configs are two names of one argument: give one of them")
    return config_texts(configs, "configs") if config is None else config_texts(config)


def changed_configs(given: Mapping[str, ConfigValue | None]) -> dict[str, str | None]:
    """Configs that are to change: name to text, or to None for the default."""
    changed = _mapping("configs", "a mapping, name of a config -> value", given)
    texts: dict[str, str | None] = dict.fromkeys(changed)
    return texts | config_texts({k: v for k, v in changed.items() if v is not None}, "configs")


def topic_counts(given: Mapping[str, int] | Iterable[str] | None) -> dict[str, int]:
    """Topics: name to number of partitions. Names alone have one partition each."""
    if isinstance(given, list | tuple | set | frozenset):
        given = {topic_name(each, "the name of a topic in topics"): 1 for each in given}
    wanted = "a mapping, name -> number of partitions, or a list of names"
    _check(given is None or isinstance(given, Mapping), "topics", wanted, given)
    counts: dict[str, int] = dict(given) if isinstance(given, Mapping) else {}
    for key, count in counts.items():
        topic_name(key, "the name of a topic in topics")
        partition_count(count, f"topics[{key!r}]")
        if count < 1:
            sentence = f"topics[{key!r}] is a number of partitions, at least 1, not {count}"
            raise Refused(Error.INVALID_PARTITIONS, sentence)
        if count > LARGEST_REQUEST:
            sentence = f"topics[{key!r}] is at most {LARGEST_REQUEST} partitions, not {count}"
            raise Refused(Error.POLICY_VIOLATION, sentence)
    return counts


def feature_levels(given: Mapping[str, int] | None) -> dict[str, int]:
    """Features: name to level. Which exist is checked later."""
    return _mapping("features", "a mapping, name of a feature -> level", given)


def topic_name(given: str, name: str = "name") -> str:
    """A text. Whether it is a valid name of a topic is checked later."""
    _check(isinstance(given, str), name, "a str", given)
    return given


def group_id(given: str, name: str = "group_id") -> str:
    _check(isinstance(given, str), name, "a str", given)
    return given


def words(given: str, name: str) -> str:
    _check(isinstance(given, str) and bool(given.strip()), name, "a str with a word in it", given)
    return given


def partition_count(given: int, name: str = "partitions") -> int:
    """A number. Whether it is too small is checked later."""
    _check(_is_int(given), name, "a number of partitions", given)
    return given


def broker_id(given: int, name: str = "broker") -> int:
    """An id. Whether there is such a broker is checked later."""
    _check(_is_int(given), name, "the id of a broker, an int", given)
    return given


def rack_name(given: str | None) -> str | None:
    """A name, or None."""
    is_one = given is None or isinstance(given, str)
    _check(is_one, "rack", "a str, or None for a broker without one", given)
    if given == "":
        raise ValueError("rack is a name, or None for a broker without one, not ''")
    return given


def replica_count(given: int) -> int:
    """A number. Whether there are as many brokers is checked later."""
    _check(_is_int(given), "replicas", "a number of brokers", given)
    return given


def record_count(given: int) -> int:
    """A number of records, at least one."""
    _check(_is_int(given), "records", "a number of records", given)
    if given < 1:
        raise ValueError(f"records is at least 1, not {given}")
    return given


def storage(data_dir: str | Path | None, disk: MemoryDisk | None) -> Path | None:
    if disk is not None:
        _check(isinstance(disk, MemoryDisk), "disk", "a MemoryDisk", disk)
        if data_dir is not None:
            raise ValueError(
                "data_dir and disk exclude each other: everything is kept in one of them"
            )
    if data_dir is None:
        return None
    _check(isinstance(data_dir, str | os.PathLike), "data_dir", "a str or a Path", data_dir)
    text = os.fspath(data_dir)
    if not text or "\0" in text:
        raise ValueError(f"data_dir is the path of a directory, not {shortened(text)}")
    return Path(data_dir).absolute()  # the process may change its directory


def listener(host: str, port: int) -> tuple[str, int]:
    _check(isinstance(host, str), "host", "a str", host)
    try:
        is_name = bool(host.encode("idna"))
    except UnicodeError:
        is_name = False
    if not is_name:
        raise ValueError(f"host is a name or an address to listen on, not {shortened(host)}")
    _check(_is_int(port), "port", "an int from 0 (a free one) to 65535", port)
    if not 0 <= port <= 65535:
        raise ValueError(f"port is from 0 (a free one) to 65535, not {port}")
    return host, port


def listening(host: str, port: int, listen: Sequence[str] | None, brokers: int) -> Listening:
    found = Listening(*listener(host, port))
    if listen is None:
        if port and port + brokers > 65536:
            last = port + brokers - 1
            raise ValueError(f"port and those after it are for {brokers} brokers: {last} is none")
        return found
    is_list = isinstance(listen, list | tuple) and all(isinstance(each, str) for each in listen)
    _check(is_list, "listen", 'a list of addresses, "host:port", one for each broker', listen)
    if found.port:
        raise ValueError("port and listen both say where to listen: give one of them")
    if len(listen) != brokers:
        text = f"listen is one address for each broker, so {brokers}, not {len(listen)}"
        raise ValueError(text if brokers > 1 else f"{text}: give brokers={len(listen)}, too")
    try:
        return found._replace(each=tuple(map(parse_address, listen)))
    except ValueError as error:
        raise ValueError(f"listen: {error}") from None


def advertised(given: str | None, brokers: int = 1) -> Advertised | None:
    if given is None:
        return None
    _check(isinstance(given, str), "advertised", 'a str, "host:port"', given)
    try:
        Advertised(given).of(brokers, brokers - 1, 1)
    except ValueError as error:
        raise ValueError(f"advertised: {error}") from None
    return Advertised(given)


def no_address(
    texts: Mapping[str, str],
    host: str,
    port: int,
    listen: Sequence[str] | None,
    advertised: str | None,
) -> None:
    """Raises ValueError if another address is given besides the config `listeners`."""
    if "listeners" not in texts:
        return
    given = {"port": port, "listen": listen, "advertised": advertised}
    names = [name for name, value in given.items() if value]
    names += ["host"] * (host != LOCAL)
    if names:
        raise ValueError(f"the config listeners says where to listen: give no {names[0]} besides")


def one_of(name: str, given: str, choices: Sequence[str]) -> str:
    """One of some words. Raises ValueError, which lists them."""
    if given not in choices:
        raise ValueError(f"{name} is {' or '.join(map(repr, choices))}, not {shortened(given)}")
    return given


def clock_of(given: Clock | str | float | None) -> Clock | None:
    """A clock, by its word, its speed, or itself; None for the machine's."""
    wanted = '"manual", "test", "system", how many seconds pass in a real one, or a Clock'
    if isinstance(given, str):
        if given not in _CLOCKS:
            raise ValueError(f"clock is {wanted}, not {given!r}")
        return _CLOCKS[given]()
    if isinstance(given, int | float) and not isinstance(given, bool):
        if not 0 < given < float("inf"):
            raise ValueError(f'clock is {wanted}, not {given}: it stands still with "manual"')
        return SystemClock(given)
    tells = not isinstance(given, type) and callable(getattr(given, "now", None))
    _check(given is None or tells, "clock", wanted, given)
    return cast(Clock | None, given)


_CLOCKS: dict[str, Callable[[], Clock]] = {
    "manual": ManualClock,
    "test": TestClock,
    "system": SystemClock,
}


def duration_ms(given: float | timedelta | None, units: Mapping[str, float]) -> int:
    """How far to move a clock, in ms. A bare number is seconds."""
    if isinstance(given, int | float) and not isinstance(given, bool) and not any(units.values()):
        return duration_ms(None, {"seconds": given})
    parts = {name: value for name, value in units.items() if value}
    for name, value in parts.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        _check(is_number, name, "a number", value)
        if not isfinite(value):
            raise ValueError(f"{name} is a finite number, not {value}")
    if given is None and not parts:
        return 0
    if parts and given is not None:
        names = ", ".join(parts)
        raise TypeError(f"how far is given twice: by {shortened(given)}, and by {names}")
    if given is None:
        ms = parts.pop("ms", 0)
        try:
            given = timedelta(milliseconds=ms, **parts)
        except OverflowError:
            raise ValueError(
                "so far no clock goes: a timedelta has at most 999999999 days"
            ) from None
    wanted = "a timedelta or a number of seconds (other units by name, as days=7 or ms=5)"
    if not isinstance(given, timedelta):
        raise TypeError(f"how far is {wanted}, not {shortened(given)}")
    return round(given / timedelta(milliseconds=1))


def scan_limit(given: int | str | None) -> int | str | None:
    """A number of records, None for all, or DEFAULT."""
    wanted = f"a number of records, None for every record, or {DEFAULT!r}"
    is_default = isinstance(given, str) and given == DEFAULT
    _check(given is None or is_default or _is_int(given), "scan_limit", wanted, given)
    if isinstance(given, int) and given < 0:
        raise ValueError(
            f"scan_limit is at least 0, not {given}: no batch has fewer records than none"
        )
    return given


def max_events(given: int) -> int:
    _check(_is_int(given), "max_events", "a number of events to keep, 0 for none", given)
    if given < 0:
        raise ValueError(f"max_events is at least 0 (none is kept), not {given}")
    return given


def racks(brokers: int, given: Sequence[str] | None) -> list[str | None]:
    """The rack of each broker; None for one that has none of its own."""
    _check(_is_int(brokers), "brokers", "a number of brokers, at least 1", brokers)
    if brokers < 1:
        raise ValueError(f"brokers is at least 1, not {brokers}")
    if given is None:
        return [None] * brokers
    is_list = isinstance(given, list | tuple) and all(isinstance(each, str) for each in given)
    _check(is_list, "racks", "a list of names, one for each broker", given)
    if len(given) != brokers:
        text = f"racks is one name for each broker, so {brokers}, not {len(given)}"
        raise ValueError(text if brokers > 1 else f"{text}: give brokers={len(given)}, too")
    if "" in given:
        raise ValueError(f"racks has a name for each broker, and none is '': {list(given)}")
    return list(given)


def timing(given: str) -> str:
    _check(isinstance(given, str), "timing", "a str", given)
    return one_of("timing", given, (INSTANT, KAFKA_TIMING))


def retention_policy(given: Any) -> Any:
    is_one = callable(given) and not isinstance(given, type)
    _check(is_one, "retention", "a function, as kafka_retention", given)
    return given


def release(given: str) -> Release:
    """The release of a version: a text, or a number as 3.9."""
    try:
        return release_named(given)
    except ValueError as error:
        raise ValueError(f"version: {error}") from None


def port_beside(name: str, given: bool | int) -> int | None:
    """The port of what runs beside the broker: None for nothing, 0 for any free one."""
    _check(isinstance(given, int), name, "True, False or a port", given)
    if isinstance(given, bool):
        return 0 if given else None
    if not 0 <= given < 1 << 16:
        raise ValueError(f"{name} is a port, 0 to 65535, not {given}")
    return given


class ZooKeeperPlace(NamedTuple):
    """Where a ZooKeeper listens (None for none, 0 for any free port), and its dataDir, if it has
    one."""

    port: int | None = None
    directory: Path | None = None


def zookeeper(given: bool | int | str | Path, release: Release) -> ZooKeeperPlace:
    if isinstance(given, str) and given.isascii() and given.isdecimal():
        given = int(given)  # a port, as to `odradek serve --zookeeper`
    if isinstance(given, str | os.PathLike):
        place = ZooKeeperPlace(0, Path(given).absolute())
    else:
        place = ZooKeeperPlace(port_beside("zookeeper", given))
    if place.port is not None and not release.has_zookeeper:
        text = f"zookeeper: Kafka {release.name} has none, since 4.0: give a version of before"
        raise ValueError(f"{text}, as 3.9")
    return place


def naming(given: str) -> Naming:
    _check(isinstance(given, str), "naming", "a str", given)
    try:
        return naming_of(given)
    except ValueError as error:
        raise ValueError(f"naming: {error}") from None


def _check(is_right: bool, name: str, wanted: str, given: object) -> None:
    if not is_right:
        raise TypeError(f"{name} is {wanted}, not {shortened(given)}")


def _is_int(given: object) -> bool:
    return isinstance(given, int) and not isinstance(given, bool)


def _mapping(name: str, wanted: str, given: Mapping[str, Any] | None) -> dict[str, Any]:
    _check(given is None or isinstance(given, Mapping), name, wanted, given)
    return dict(given or {})


def _config_text(name: str, value: ConfigValue) -> str:
    if isinstance(value, list | tuple):
        return ",".join(_config_text(f"an item of {name}", one) for one in value)
    _check(isinstance(value, str | int | float), name, _VALUE, value)
    return str(value).lower() if isinstance(value, bool) else str(value)
