"""The line and the file that say that the broker is ready, for scripts that start one and wait.

From the options of `odradek serve` to a broker that runs, with all that is beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from importlib import import_module
from time import monotonic
from typing import TYPE_CHECKING, Any

from ....emulator.base.addresses import bracketed
from ....emulator.base.call import TEST
from ....emulator.base.event import Event
from ....emulator.base.release import Release, release_named
from ....emulator.cluster import UNSCANNED_WITHOUT_C, Cluster
from ....emulator.config.broker_rules import LISTENER_PREFIX
from ....emulator.config.configs import UNKNOWN, BrokerConfig, ConfigError
from ....emulator.config.listener_configs import listener_of
from ....emulator.embedded.embedded import Embedded
from ....emulator.security.listeners import listeners_of
from ....storage import LogDirectoryError
from ....wire import Refused
from ....wire.scan import HAVE_C
from ..journal_file import write_to_file
from ..log.event_log import EventLog
from ..log.levels import ERROR, WARN
from .apply import address_of, apply, brokers_of, problems
from .configure import read_all
from .data_dir import holds_data, recovery, refusal
from .security import tell_access, tell_reach
from .settings import Settings, TopicSettings
from .watching import Watch

if TYPE_CHECKING:
    from ....emulator.control.traffic.sink import FileSink


def ready_line(
    emulator: Embedded,
    health_port: int | None = None,
    control_url: str | None = None,
    schema_registry_url: str | None = None,
    zookeeper_connect: str | None = None,
) -> str:
    """The address that clients need, and in brackets what else is to be known."""
    listening = emulator.run(_listening)
    more = []
    if listening != emulator.bootstrap_servers:
        more.append(f"listening at {listening}")
    if health_port is not None:
        more.append(f"health at port {health_port}")
    if control_url is not None:
        more.append(f"control at {control_url}")
    if schema_registry_url is not None:
        more.append(f"schema registry at {schema_registry_url}")
    if zookeeper_connect is not None:
        more.append(f"ZooKeeper at {zookeeper_connect}")
    if (scan_limit := emulator.cluster.scan_limit) is not None:
        more.append(f"records scanned up to {scan_limit} a batch")
    details = f" ({', '.join(more)})" if more else ""
    return f"odradek ready at {emulator.bootstrap_servers}{details}"


def _listening(cluster: Cluster) -> str:
    """Where the first listener of each broker is bound: the addresses in `bootstrap_servers` are
    what clients are given."""
    name = next(iter(cluster.security.listeners))
    found = {
        node: f"{bracketed(host)}:{port}"
        for (host, listener), ports in cluster.security.bound.items()
        if listener == name
        for node, port in ports.items()
    }
    return ",".join(found[node] for node in cluster.nodes if node in found)


class ReadyFile:
    """Written whole when the broker is ready, removed when it stops."""

    def __init__(self, path: str, facts: dict[str, Any]) -> None:
        """Raises OSError."""
        self._path = path
        beside = f"{path}.{os.getpid()}.tmp"
        with open(beside, "w") as file:
            json.dump(facts, file)
            file.write("\n")
        os.replace(beside, path)

    def remove(self) -> None:
        with suppress(FileNotFoundError):
            os.remove(self._path)


class Failed(Exception):
    """It cannot run: what to say, and the exit status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def bring_up(options: argparse.Namespace, running: ExitStack) -> tuple[Embedded, str]:
    """Start the broker and what is beside it; what ends them is put on the stack. Returns it, and
    the line to print. Raises Failed."""
    settings = merged(options.settings, options)
    log = _log(options, running)
    begin = monotonic()
    had_data = options.data_dir is not None and _may_use(options.data_dir)
    emulator = _started(options, settings)
    running.callback(emulator.stop)
    if not HAVE_C:
        log.say(
            "the C extension is not installed, as there was no compiler: Python scans records, "
            f"of batches up to {UNSCANNED_WITHOUT_C} unless --scan-limit says another number"
        )
    if had_data and (line := recovery(emulator, monotonic() - begin)):
        log.say(line)
    if options.journal is not None:
        running.callback(_write_journal(emulator, options.journal).close)
    try:
        done = list(apply(emulator, settings))
    except Refused as error:
        raise Failed(f"topics: {error}", 2) from None
    emulator.run(lambda cluster: _tell_of_clients(cluster, log))
    if settings.ignored:
        emulator.run(lambda cluster: show_ignored(cluster, settings.ignored))
    _tell_settings(settings, done, log)
    if options.watch:

        def again() -> Settings:
            return merged(read_all(options.parser, options), options)

        running.callback(Watch(emulator, settings, again, log.say).close)
    tell_access(emulator, running, log.say, options.data_dir)
    tell_reach(emulator, log.say)
    return emulator, ready_line(emulator, **_tell_the_world(emulator, options, running))


def _may_use(data_dir: str) -> bool:
    """Whether a broker has used it before. Raises Failed if nobody may."""
    try:
        why = refusal(data_dir)
    except OSError as error:
        raise Failed(f"--data-dir: {error.filename}: {error.strerror}", 1) from None
    if why is not None:
        raise Failed(f"--data-dir: {why}", 2)
    return holds_data(data_dir)


def merged(settings: Settings, options: argparse.Namespace) -> Settings:
    """The settings of files and environment, overridden by the options."""
    topics = dict(settings.topics)
    for name, partitions in options.topic:
        topics[name] = replace(topics.get(name, TopicSettings()), partitions=partitions)
    given = Settings(configs=dict(options.set), features=dict(options.feature), topics=topics)
    return known_only(settings | given, options)


def known_only(settings: Settings, options: argparse.Namespace) -> Settings:
    """Without configs that Kafka does not have, and those of listeners that are not there: a broker
    starts with them, as Kafka does, where a test learns of the mistake."""
    release = release_named(options.kafka_version)
    left: dict[str, str] = {}
    config = BrokerConfig({}, release)
    for name in settings.configs:
        try:
            config.check_known(name)
        except ConfigError as error:
            left[name] = str(error).replace(f"{UNKNOWN}: {name}", "Kafka has no such broker config")
    configs = {name: text for name, text in settings.configs.items() if name not in left}
    left |= _of_no_listener(configs, options.security, release)
    configs = {name: text for name, text in configs.items() if name not in left}
    ignored = settings.ignored | {name: settings.configs[name] for name in left}
    not_obeyed = settings.not_obeyed | left
    return replace(settings, configs=configs, not_obeyed=not_obeyed, ignored=ignored)


def show_ignored(cluster: Cluster, texts: Mapping[str, str]) -> None:
    """Have DescribeConfigs show what nothing obeys, but what no value can be."""
    for name, text in texts.items():
        definition = cluster.config.definitions.get(name)
        try:
            if definition is not None:
                definition.parse(text)
        except ConfigError:
            continue
        cluster.config.ignored[name] = text


def _of_no_listener(
    configs: Mapping[str, str], security: str | None, release: Release
) -> dict[str, str]:
    prefixed = {name for name in configs if name.startswith(LISTENER_PREFIX)}
    if not prefixed:
        return {}
    from ....emulator.security.initial_users import secured

    others = {name: text for name, text in configs.items() if name not in prefixed}
    try:
        there = listeners_of(BrokerConfig(secured(others, security, release), release))
    except ValueError:  # a ConfigError, which is said when it starts
        return {}
    small = {name.lower() for name in there}
    return {
        name: f"there is no listener {listener_of(name).upper()}, but {', '.join(there)}"
        for name in prefixed
        if listener_of(name) not in small
    }


def wrong_with(options: argparse.Namespace, settings: Settings) -> list[str]:
    """The problems of configs, topics, seeds and addresses, a sentence each."""
    try:
        brokers_of(options)
    except ValueError as error:
        return [str(error)]
    try:
        config = BrokerConfig(settings.configs, release_named(options.kafka_version))
    except ValueError as error:  # a ConfigError
        return [f"configs: {error}"]
    return list(problems(settings, config))


def emulator_of(options: argparse.Namespace, settings: Settings) -> Embedded:
    """The broker, not started. Raises ValueError (or ConfigError), Refused."""
    plain = {
        name: topic.partitions
        for name, topic in settings.topics.items()
        if not topic.configs and topic.replicas is None
    }
    # The control API asks for all of the kit; by name, as it stands above this package.
    home = "odradek.fixtures.kafka.emulator"
    kind = Embedded if options.control is None else import_module(home).Emulator
    started: Embedded = kind(
        settings.configs,
        topics=plain,
        features=settings.features,
        data_dir=options.data_dir,
        **address_of(options, settings.configs),
        advertised=options.advertised,
        scan_limit=getattr(options, "scan_limit", "default"),
        version=options.kafka_version,
        naming=options.naming,
        timing=options.timing,
        security=options.security,
        users=dict(options.user),
        zookeeper=False if options.zookeeper is None else options.zookeeper,
    )
    return started


def _started(options: argparse.Namespace, settings: Settings) -> Embedded:
    if wrong := wrong_with(options, settings):
        raise Failed("; ".join(wrong), 2)
    try:
        return emulator_of(options, settings).start()
    except Refused as error:
        raise Failed(f"--topic: {error}", 2) from None
    except LogDirectoryError as error:
        raise Failed(f"--data-dir: {error}", 1) from None
    except ValueError as error:  # a ConfigError, too
        raise Failed(str(error), 2) from None
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        raise Failed(f"{place}{error.strerror or error}", 1) from None


def _log(options: argparse.Namespace, running: ExitStack) -> EventLog:
    """The log on standard error. It is closed last, so that it has the lines of the stop."""
    level = ERROR if options.quiet else options.log_level
    log = EventLog(sys.stderr, options.log_format, level)
    running.callback(log.close)
    running.enter_context(log.of_the_broker())
    return log


def _tell_of_clients(cluster: Cluster, log: EventLog) -> None:
    """Log the events of clients. Those of the settings have lines of their own."""

    def tell(event: Event) -> None:
        if event.client != TEST:
            log(event)

    cluster.journal.on_event = tell


def _tell_settings(settings: Settings, done: list[str], log: EventLog) -> None:
    for path in settings.files:
        log.say(f"settings are read from {path}")
    for line in done:
        log.say(line)
    if left := settings.not_obeyed:
        log.say(f"not obeyed: {', '.join(f'{n} ({why})' for n, why in left.items())}", WARN)


def _write_journal(emulator: Embedded, path: str) -> FileSink:
    from ....emulator.control.traffic.sink import FileSink

    names = emulator.run(lambda cluster: {each.id: each.name for each in cluster.topics})
    try:
        sink = FileSink(path, names)
    except OSError as error:
        raise Failed(f"--journal: {error.filename}: {error.strerror}", 1) from None
    write_to_file(emulator.journal, sink)
    return sink


def _tell_the_world(
    emulator: Embedded, options: argparse.Namespace, running: ExitStack
) -> dict[str, Any]:
    """/health, the control API, and the file for those who wait. Returns where they are."""
    addresses: dict[str, Any] = {}
    if options.zookeeper is not None:
        addresses["zookeeper_connect"] = emulator.zookeeper_connect
    if options.health_port is not None:
        from .health import Health  # which takes http.server

        try:
            health = Health(emulator, options.host, options.health_port)
        except OSError as error:
            raise Failed(f"--health-port: {options.health_port}: {error.strerror}", 1) from None
        running.callback(health.close)
        addresses["health_port"] = health.port
    if options.control is not None:
        addresses["control_url"] = _control(emulator, options, running)
    if options.schema_registry is not None:
        addresses["schema_registry_url"] = _schema_registry(emulator, options, running)
    if options.ready_file is not None:
        try:
            ready = ReadyFile(options.ready_file, _facts(emulator, options) | addresses)
        except OSError as error:
            raise Failed(f"--ready-file: {error.filename}: {error.strerror}", 1) from None
        running.callback(ready.remove)
    return addresses


def _control(emulator: Embedded, options: argparse.Namespace, running: ExitStack) -> str:
    """Serve the control API; returns its address."""
    # By name: it stands above this package, and other commands do not need it.
    server = import_module("odradek.fixtures.control.server")
    try:
        control = server.Control(emulator, *options.control, options.control_token)
    except ValueError as error:
        raise Failed(f"--control: {error}", 2) from None
    except (OSError, server.Unavailable) as error:
        raise Failed(f"--control: {error}", 1) from None
    running.callback(control.close)
    url: str = control.url
    return url


def _schema_registry(emulator: Embedded, options: argparse.Namespace, running: ExitStack) -> str:
    """Serve a schema registry; returns its address."""
    # By name: it stands above this package, whose client it asks other Kafkas by.
    home = "odradek.compat."
    server = import_module(f"{home}schema_registry.server")
    inside = import_module(f"{home}wire_client.in_process")
    try:
        registry = server.SchemaRegistry(
            inside.source_of(emulator),
            *options.schema_registry,
            incarnation=lambda: emulator.run(id),
        )
        registry.start()
    except (OSError, server.Unavailable) as error:
        raise Failed(f"--schema-registry: {error}", 1) from None
    running.callback(registry.stop)
    url: str = registry.url
    return url


def _facts(emulator: Embedded, options: argparse.Namespace) -> dict[str, Any]:
    return {
        "bootstrap_servers": emulator.bootstrap_servers,
        "pid": os.getpid(),
        "data_dir": str(emulator.data_dir),
        "kafka_version": options.kafka_version,
    }
