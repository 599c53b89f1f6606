"""Settings and a broker that runs: topics are created, grown and configured, seeds produced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ....wire import Refused
from ... import seen
from ...config.configs import BrokerConfig, ConfigError
from ...emulator import Emulator
from ...metadata.topic_rules import check_name
from .settings import Settings, TopicSettings


def problems(settings: Settings, config: BrokerConfig) -> Iterator[str]:
    """What is wrong with topics and seeds, a sentence each: before there is a broker."""
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
            seen.read_seeds(path)
        except (ValueError, TypeError) as error:
            yield f"seed: {error}"
        except OSError as error:
            yield f"seed: {error.filename}: {error.strerror}"


def apply(kafka: Emulator, settings: Settings, before: Settings | None = None) -> Iterator[str]:
    """Bring topics to what the settings say; `before` is what was applied last. Yields what was
    done, a sentence each. Raises Refused."""
    there = set(kafka.topics())
    old = {} if before is None else before.topics
    for name, topic in settings.topics.items():
        if name not in there:
            kafka.create_topic(name, topic.partitions, topic.configs, replicas=topic.replicas)
            yield f"created topic {name}"
        else:
            yield from _change(kafka, name, topic, old.get(name, TopicSettings()))
        yield from _seed(kafka, _seeds_of(name, topic))
    for path in settings.seeds:
        yield from _seed(kafka, {name: s.records for name, s in seen.read_seeds(path).items()})
    for name in sorted(old.keys() - settings.topics.keys()):
        yield f"topic {name} is no longer there to be created; it stays until it is deleted"


def _change(kafka: Emulator, name: str, topic: TopicSettings, old: TopicSettings) -> Iterator[str]:
    view = kafka.topic(name)
    count = len(view)
    if topic.partitions > count:
        view.add_partitions(topic.partitions - count)
        yield f"topic {name} has {topic.partitions} partitions now"
    elif topic.partitions < count and topic.partitions != old.partitions:
        yield f"topic {name} keeps its {count} partitions: there is no way to take them away"
    wanted: dict[str, str | None] = dict.fromkeys(old.configs.keys() - topic.configs.keys())
    has = kafka.run(lambda cluster: dict(cluster.topic(name).config.overrides))
    wanted |= {key: text for key, text in topic.configs.items() if has.get(key) != text}
    if wanted:
        view.set_config(wanted)
        yield f"set {', '.join(sorted(wanted))} of topic {name}"


def _seeds_of(name: str, topic: TopicSettings) -> Mapping[str, list[object]]:
    """The records of a topic's seed. Raises ValueError, TypeError, OSError."""
    if topic.seed is None:
        return {}
    if not isinstance(topic.seed, Path):
        return {name: list(topic.seed)}
    found = seen.read_seeds(topic.seed, name)
    if others := sorted(found.keys() - {name}):
        raise ValueError(f"seed: {topic.seed} has records of {others[0]}, too")
    return {each: list(seed.records) for each, seed in found.items()}


def _seed(kafka: Emulator, seeds: Mapping[str, object]) -> Iterator[str]:
    """Topics that were never written to get what is meant for them."""
    there = set(kafka.topics())
    for name, records in seeds.items():
        if name in there and any(each.log_end_offset for each in kafka.topic(name)):
            continue
        for topic, count in kafka.seed({name: records}).items():  # type: ignore[dict-item]
            yield f"produced {count} records to {topic}"
