"""Settings and a broker that runs: topics are created, grown and configured, seeds produced.

How many brokers `odradek serve` starts, where they listen, their racks.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....emulator.config.configs import BrokerConfig, ConfigError
from ....emulator.embedded.embedded import Embedded
from ....emulator.metadata.topic_rules import DEFAULT, check_name
from ....wire import Refused
from .settings import Settings, TopicSettings

if TYPE_CHECKING:
    from ...wire_client.produced import TopicSeeds


def problems(settings: Settings, config: BrokerConfig) -> Iterator[str]:
    """The problems of topics and seeds, a sentence each: before there is a broker."""
    for name, topic in settings.topics.items():
        try:
            check_name(name)
            config.check_topic_names(topic.configs)
            config.topic(topic.configs)
            _seeds_of(name, topic)
        except (ConfigError, Refused, ValueError, TypeError) as error:
            yield f"topics: {name}: {error}"
        except OSError as error:
            yield f"topics: {name}: seed: {error.filename}: {error.strerror}"
    for path in settings.seeds:
        try:
            _read(path)
        except (ValueError, TypeError) as error:
            yield f"seed: {error}"
        except OSError as error:
            yield f"seed: {error.filename}: {error.strerror}"


def apply(kafka: Embedded, settings: Settings, before: Settings | None = None) -> Iterator[str]:
    """Bring topics to what the settings say; `before` is what was applied last. Yields what was
    done, a sentence each. Raises Refused."""
    there = set(_ends(kafka))
    old = {} if before is None else before.topics
    for name, topic in settings.topics.items():
        if name not in there:
            _create(kafka, name, topic)
            yield f"created topic {name}"
        else:
            yield from _change(kafka, name, topic, old.get(name, TopicSettings()))
        if topic.seed is not None:
            yield from _seed(kafka, _seeds_of(name, topic))
    for path in settings.seeds:
        yield from _seed(kafka, _read(path))
    for name in sorted(old.keys() - settings.topics.keys()):
        yield f"topic {name} is no longer there to be created; it stays until it is deleted"


def _change(kafka: Embedded, name: str, topic: TopicSettings, old: TopicSettings) -> Iterator[str]:
    from ...wire_client.configuring import TOPIC, set_configs
    from ...wire_client.in_process import source_of
    from ...wire_client.reading import partition_count
    from ...wire_client.topics import add_partitions

    source = source_of(kafka)
    count = partition_count(source, name)
    if topic.partitions > count:
        add_partitions(source, name, topic.partitions - count)
        yield f"topic {name} has {topic.partitions} partitions now"
    elif topic.partitions < count and topic.partitions != old.partitions:
        yield f"topic {name} keeps its {count} partitions: there is no way to take them away"
    wanted: dict[str, str | None] = dict.fromkeys(old.configs.keys() - topic.configs.keys())
    has = kafka.run(lambda cluster: dict(cluster.topic(name).config.overrides))
    wanted |= {key: text for key, text in topic.configs.items() if has.get(key) != text}
    if wanted:
        set_configs(source, TOPIC, name, wanted)
        yield f"set {', '.join(sorted(wanted))} of topic {name}"


def _seeds_of(name: str, topic: TopicSettings) -> Mapping[str, TopicSeeds]:
    """The records of a topic's seed. Raises ValueError, TypeError, OSError."""
    if topic.seed is None:
        return {}
    if not isinstance(topic.seed, Path):
        return _read({name: topic.seed})
    found = _read(topic.seed, name)
    if others := sorted(found.keys() - {name}):
        raise ValueError(f"seed: {topic.seed} has records of {others[0]}, too")
    return found


def _read(
    given: Mapping[str, Sequence[Any]] | Path, topic: str | None = None
) -> dict[str, TopicSeeds]:
    from ...wire_client.seeds import read_seeds  # which few brokers need

    return read_seeds(given, topic)


def _create(kafka: Embedded, name: str, topic: TopicSettings) -> None:
    factor = DEFAULT if topic.replicas is None else topic.replicas
    kafka.run(lambda cluster: cluster.create_topic(name, topic.partitions, topic.configs, factor))


def _ends(kafka: Embedded) -> dict[str, int]:
    """Of each topic, how many records were written to it."""
    return kafka.run(
        lambda cluster: {
            topic.name: sum(each.log_end_offset for each in topic.partitions)
            for topic in cluster.topics
        }
    )


def _seed(kafka: Embedded, seeds: Mapping[str, TopicSeeds]) -> Iterator[str]:
    """Topics that were never written to get what is meant for them."""
    from ...wire_client.in_process import source_of
    from ...wire_client.topics import produce_all

    ends = _ends(kafka)
    for name, seed in seeds.items():
        if ends.get(name):
            continue
        if name not in ends:
            configs = dict(seed.configs)
            _create(kafka, name, TopicSettings(partitions=seed.partitions, configs=configs))
        produce_all(source_of(kafka), name, seed.records)
        yield f"produced {len(seed.records)} records to {name}"


DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 9092


def brokers_of(options: argparse.Namespace) -> dict[str, Any]:
    """Arguments of an Emulator. Without --brokers there are as many as have an address or a rack.
    Raises ValueError that names the option."""
    listen, racks = _flat(options.listen), _flat(options.rack)
    if listen and options.port != DEFAULT_PORT:
        raise ValueError("--listen and --port both say where to listen: give one of them")
    count = options.brokers
    if count is None:
        count = max(len(listen or ()), len(racks or ()), 1)
    for option, given in (("listen", listen), ("racks", racks)):
        if given is not None and len(given) != count:
            are = "1 is" if len(given) == 1 else f"{len(given)} are"
            raise ValueError(f"--{option}: {are} given for {count} brokers")
    port = 0 if listen else options.port
    return {"brokers": count, "racks": racks, "listen": listen, "port": port}


def address_of(options: argparse.Namespace, configs: Mapping[str, str]) -> dict[str, Any]:
    """The same, and the host. The defaults of --host and --port are none where the config
    `listeners` says where to listen."""
    found = {"host": options.host, **brokers_of(options)}
    if "listeners" in configs and (options.host, options.port) == (DEFAULT_HOST, DEFAULT_PORT):
        found["port"] = 0
    return found


def _flat(given: list[list[str]] | None) -> list[str] | None:
    return None if given is None else [each for some in given for each in some]
