"""Rules for the configs of brokers: which may change at run time, and which values exclude others.

`check_values` judges the values of a broker at any time; `check_change` judges a change: only
dynamic configs (definition.py: mode), some of them for one broker only, some only for one listener;
numbers of threads are at most doubled and at most halved. Every refusal is a ConfigError with
Kafka's sentence, in Kafka's order: of several problems the first is named.

Not settable here, other than in Kafka: listeners and their security protocols, which follow from
how the emulator is started; classes other than the default, as none are loaded.
Source: Kafka 4.3.1's answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from ..base.java_order import hash_map_order
from .broker_table import OF_THE_AUTHORIZER, broker_definitions
from .definition import ConfigError, Definition, Kind, Value, invalid
from .topic_table import topic_definitions

Values = Mapping[str, Value]

LISTENER_PREFIX = "listener.name."
_OF_A_LISTENER = re.compile(r"listener\.name\.[^.]*\.(.*)")

# Configs of TLS that are read again at run time: only with a listener's prefix.
PER_LISTENER = (
    "ssl.engine.factory.class",
    "ssl.key.password",
    "ssl.keystore.certificate.chain",
    "ssl.keystore.key",
    "ssl.keystore.location",
    "ssl.keystore.password",
    "ssl.keystore.type",
    "ssl.truststore.certificates",
    "ssl.truststore.location",
    "ssl.truststore.password",
    "ssl.truststore.type",
)
# Sizes of thread pools: a change at most doubles or halves them.
THREADS = (
    "num.io.threads",
    "num.network.threads",
    "num.recovery.threads.per.data.dir",
    "num.replica.fetchers",
    "background.threads",
    "remote.log.manager.copier.thread.pool.size",
    "remote.log.manager.expiration.thread.pool.size",
    "remote.log.manager.follower.thread.pool.size",
    "remote.log.reader.threads",
)
# Pairs of which the first must not exceed the second.
ORDERED = (
    ("group.min.session.timeout.ms", "group.max.session.timeout.ms"),
    *(
        pair
        for protocol in ("consumer", "share", "streams")
        for name in ("session.timeout.ms", "heartbeat.interval.ms", "assignment.interval.ms")
        for pair in (
            (f"group.{protocol}.min.{name}", f"group.{protocol}.{name}"),
            (f"group.{protocol}.{name}", f"group.{protocol}.max.{name}"),
        )
    ),
)
STANDARD_AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
"""The value of `authorizer.class.name`."""
# What may be named as `replica.selector.class`: no other class is there.
LEADER_SELECTOR = "org.apache.kafka.common.replica.LeaderSelector"
RACK_AWARE_SELECTOR = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
_CLEANER_BUFFER_MIN = 1 << 20
_LOCAL_UNSET = -2
_AT_THE_START = "it follows from the address that the emulator is started with"


def check_values(values: Values) -> None:
    """Raises ConfigError for a value that is not allowed, alone or with another."""
    _at_least(values, "log.roll.ms", 1)
    _at_least(values, "log.roll.jitter.ms", 0)
    for name in ("log.retention.ms", "log.retention.minutes", "log.retention.hours"):
        if values[name] == 0:
            sentence = f"{name} must be unlimited (-1) or, greater than or equal to 1"
            raise _required(name, sentence)
    _check_cleaner(values)
    _check_selector(values)
    _check_authorizer(values)
    if values["max.connections.per.ip"] == 0 and not values["max.connections.per.ip.overrides"]:
        name = "max.connections.per.ip"
        sentence = f"{name} can be set to zero only if {name}.overrides property is set."
        raise _required(name, sentence)
    _check_addresses(values["max.connections.per.ip.overrides"])
    for low, high in ORDERED:
        if values[low] > values[high]:
            is_low_set = values[low] != broker_definitions()[low].default
            name = low if is_low_set else high
            raise ConfigError(name, f"{low} must be less than or equal to {high}")


def _at_least(values: Values, name: str, least: int) -> None:
    if values[name] is not None and values[name] < least:
        raise _required(name, f"{name} must be greater than or equal to {least}")


def _check_cleaner(values: Values) -> None:
    threads, size = values["log.cleaner.threads"], values["log.cleaner.dedupe.buffer.size"]
    if threads == 0:
        raise ConfigError("log.cleaner.threads", "/ by zero")
    if size // threads <= _CLEANER_BUFFER_MIN:
        name = "log.cleaner.dedupe.buffer.size"
        raise _required(name, f"{name} must be at least 1MB per cleaner thread.")


def _check_selector(values: Values) -> None:
    name = "replica.selector.class"
    if values[name] not in (None, LEADER_SELECTOR, RACK_AWARE_SELECTOR):
        sentence = f"{name} must be {RACK_AWARE_SELECTOR} or {LEADER_SELECTOR}"
        raise _required(name, sentence)


def _check_authorizer(values: Values) -> None:
    name = "authorizer.class.name"
    if values[name] not in ("", STANDARD_AUTHORIZER):
        sentence = f"{name} is {STANDARD_AUTHORIZER} or empty: no other class is there"
        raise ConfigError(name, sentence)


def _check_addresses(text: str) -> None:
    """Addresses and numbers: `host:5,other:0`."""
    name = "max.connections.per.ip.overrides"
    for entry in text.split(",") if text else ():
        _, colon, number = entry.strip().rpartition(":")
        if not colon:
            length = len(entry.strip())
            sentence = f"Error parsing configuration property '{name}': "
            raise ConfigError(name, f"{sentence}begin 0, end -1, length {length}")
        try:
            int(number)
        except ValueError:
            raise ConfigError(name, f'For input string: "{number.strip()}"') from None


def check_format(values: Values, *, by_magic: bool) -> None:
    """Before 3.0: raises ConfigError if brokers that speak the protocol's version cannot read the
    messages. `by_magic`: their format counts, and not which version names it."""
    from .api_versions import FORMATS, magic_of, place_of

    name, other = "log.message.format.version", "inter.broker.protocol.version"
    given, protocol = values[name], values[other]
    magic, known = magic_of(given) or 0, magic_of(protocol) or 0
    if by_magic and magic > known:
        least = f"can only be used when {other} is set to version {FORMATS[magic]} or higher"
        raise _required(name, f"{name} {given} {least}")
    if not by_magic and (place_of(given) or 0) > (place_of(protocol) or 0):
        cannot = f"cannot be used when {other} is set to {protocol}"
        raise _required(name, f"{name} {given} {cannot}")


def check_change(
    texts: Mapping[str, str],
    before: Values,
    made: Callable[[], Values],
    *,
    one_broker: bool,
    data_dir: str,
    definitions: Mapping[str, Definition],
) -> None:
    """Judge what a broker, or all of them, are to set at run time. `before` are all values of a
    broker, `made` returns those after the change. Raises ConfigError."""
    known = [name for name in definitions if name in texts and name not in OF_THE_AUTHORIZER]
    fixed = [name for name in known if definitions[name].mode not in ("cluster", "broker")]
    if fixed:
        raise _listed(fixed, "Cannot update these configs dynamically")
    for name in known:
        if definitions[name].kind is Kind.CLASS:
            _check_class(definitions[name], texts[name])
    if scattered := [name for name in known if name in PER_LISTENER]:
        what = "These security configs can be dynamically updated only per-listener using the"
        raise _listed(scattered, f"{what} listener prefix")
    for name in known:
        definitions[name].parse(texts[name])
    for name, text in texts.items():
        if (of_listener := _OF_A_LISTENER.fullmatch(name)) and of_listener[1] in definitions:
            definitions[of_listener[1]].parse(text)
    if not one_broker:
        _check_cluster_wide(list(texts), definitions)
    for name in ("listeners", "listener.security.protocol.map"):
        if name in texts:
            raise ConfigError(name, f"{name} cannot be set: {_AT_THE_START}")
    after = made()
    for directory in after["cordoned.log.dirs"]:
        if directory not in ("*", data_dir):
            sentence = "All entries in cordoned.log.dirs must be present in log.dirs or log.dir."
            raise _required("cordoned.log.dirs", f"{sentence} Missing entries : {directory}")
    _check_reconfigured(before, after, definitions)


def _check_cluster_wide(names: list[str], definitions: Mapping[str, Definition]) -> None:
    single = [
        name
        for name in names
        if name.startswith(LISTENER_PREFIX)
        or (name in definitions and definitions[name].mode == "broker")
    ]
    if single:
        what = "Cannot update these configs at default cluster level, broker id must be specified"
        raise _listed(single, what)


def _check_class(definition: Definition, text: str) -> None:
    if text != definition.default_text:
        raise invalid(definition, text, f"Class {text} could not be found.")


def _check_reconfigured(
    before: Values, after: Values, definitions: Mapping[str, Definition]
) -> None:
    """The checks of those parts of a broker that are reconfigured."""
    for name in THREADS:
        _check_threads(name, before[name], after[name])
    old, new = before["log.cleaner.threads"], after["log.cleaner.threads"]
    if new > old * 2:
        what = (
            f"Log cleaner threads cannot be increased to more than double the current value {old}"
        )
        raise _reconfigured("log.cleaner.threads", what)
    if new < old // 2:
        what = "Log cleaner threads cannot be reduced to less than half the current value"
        raise _reconfigured("log.cleaner.threads", f"{what} {old}")
    _check_local(after, "ms", topic_definitions()["retention.ms"].default_from(after))
    _check_local(after, "bytes", after["log.retention.bytes"])
    for name in ("max.connections", "max.connection.creation.rate"):
        if after[name] == 0:
            raise _reconfigured(name, f"Invalid {name} 0")
    if after["metric.reporters"] != definitions["metric.reporters"].default:
        sentence = (
            "Validation of dynamic config update of Set(metric.reporters) failed with class"
            " class kafka.server.DynamicMetricsReporters"
        )
        raise _reconfigured("metric.reporters", sentence)


def _check_threads(name: str, old: int, new: int) -> None:
    if new == old:
        return
    what = f"Dynamic thread count update validation failed for {name}={new}, value should"
    if new < old // 2:
        raise _reconfigured(name, f"{what} be at least half the current value {old}")
    if new > old * 2:
        raise _reconfigured(name, f"{what} not be greater than double the current value {old}")


def _check_local(values: Values, unit: str, kept: int) -> None:
    """Tiered storage keeps no more on the broker than in all."""
    name, all_name = f"log.local.retention.{unit}", f"log.retention.{unit}"
    local = values[name]
    if kept < 0 or local == _LOCAL_UNSET:
        return
    what = f"Invalid value {local} for configuration {name}: Value must not be"
    if local == -1:
        raise _reconfigured(name, f"{what} -1 as {all_name} value is set as {kept}.")
    if local > kept:
        raise _reconfigured(name, f"{what} more than {all_name} property value: {kept}")


def _listed(names: list[str], what: str) -> ConfigError:
    return ConfigError(names[0], f"{what}: [{', '.join(hash_map_order(names))}]")


def _required(name: str, sentence: str) -> ConfigError:
    return ConfigError(name, f"requirement failed: {sentence}")


def _reconfigured(name: str, sentence: str) -> ConfigError:
    return ConfigError(
        name,
        f"Invalid value org.apache.kafka.common.config.ConfigException: {sentence}"
        " for configuration Invalid dynamic configuration",
    )
