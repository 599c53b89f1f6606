"""`python -m tests.releases.record [NAME ...]`: ask a running broker of each release, and write its
table (emulator/releases/tables.py says what is in one). Needs Java and Kafka's archives.

Of 0.8.2 the APIs are those of its sources: it has no ApiVersions, and takes whatever version a
request claims. It prints no configs either: of 0.10.2's it has those that its classes name.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import odradek.emulator.releases
from odradek.compat.real_kafka import RealKafka
from odradek.emulator.base.release import KAFKA_4_3, release_named
from odradek.emulator.config.broker_table import OF_THE_AUTHORIZER, UNLISTED
from odradek.emulator.config.configs import BrokerConfig
from odradek.emulator.config.group import GROUP_RESOURCE, group_definitions
from odradek.emulator.config.release_tables import ConfigTables, config_tables
from odradek.emulator.releases.tables import NAMES, NEWEST, numbers
from odradek.wire.api.api_versions import ApiVersionsRequest, ApiVersionsResponse
from odradek.wire.api.describe_configs import DescribeConfigsRequest

from tests.differential.engine.asker import Asker

from .brokers import VERSIONS
from .kafka_configs import Config, broker_configs, constants, row_of, topic_configs

FOLDER = Path(odradek.emulator.releases.__file__).parent
_APIS_0_8_2 = {0: (0, 0), 1: (0, 0), 2: (0, 0), 3: (0, 0), 8: (0, 1), 9: (0, 1), 10: (0, 0)}
_CLASSES_0_8_2 = {
    True: r"kafka/log/LogConfig.*",
    False: r"kafka/(server/KafkaConfig|utils/ZKConfig).*",
}
"""Of topics, and of brokers."""
_CHANGED_0_8_2 = """
log.cleaner.enable BOOLEAN false *
log.cleaner.dedupe.buffer.size LONG 524288000 *
"""
"""By its documentation."""
_CODECS = "compression.type STRING producer codec:uncompressed|{}|producer"
_UNPRINTED = {
    "2.8": _CODECS.format("zstd|lz4|snappy|gzip") + " cluster",
    "2.0": _CODECS.format("snappy|lz4|gzip") + " cluster",
    "0.11.0": _CODECS.format("snappy|lz4|gzip"),
}
"""Rows of brokers' configs whose values KafkaConfig judges by what is not printed."""
_OF_TIERS = "remote.log."
"""Configs that are named in 3.3, and that no broker of it has."""
_AS_IF = {
    "group.consumer.assignment.interval.ms": "0",
    "group.share.assignment.interval.ms": "0",
    "group.streams.assignment.interval.ms": "0",
    "group.streams.initial.rebalance.delay.ms": "0",
    "group.initial.rebalance.delay.ms": "0",
    "transaction.partition.verification.enable": "false",
}
"""What a release that lacks a config does, where that is not the default of later ones."""


def main(names: list[str]) -> int:
    """Write the tables of these releases, or of all."""
    for name in names or NAMES[1:]:
        record(name)
    return 0


def record(name: str) -> None:
    newer = NAMES[NAMES.index(name) - 1]
    answer = asked(name)
    apis = ranges(name, answer)
    known = {f.name: (f.min_version, f.max_version) for f in answer.supported_features}
    # What node of the newest knows of a feature, in the order of its answers, is no part of this.
    lines = ["[about]", f"version {VERSIONS[name]}", f"newer {newer}"]
    lines += [f"features_epoch {answer.finalized_features_epoch if numbers(name) < (3, 0) else -1}"]
    lines += ["[apis]", *(f"{key} {first} {last}" for key, (first, last) in apis.items())]
    lines += ["[features]", *(f"{each} {a} {b}" for each, (a, b) in known.items())]
    lines += ["[broker]", *_rows(name, newer, is_topic=False)]
    lines += ["[topic]", *_rows(name, newer, is_topic=True)]
    if release_named(newer).has_group_configs and numbers(name) >= (4, 0):
        lines += ["[group]", *(f"-{each}" for each in _groups_lack(name, newer))]
    (FOLDER / f"{name}.tsv").write_text("\n".join(lines) + "\n")
    print(f"{name}: {len(apis)} APIs, {len(lines)} lines", flush=True)


def asked(name: str) -> ApiVersionsResponse:
    """What a broker of the release answers to ApiVersions; nothing where it has none."""
    if numbers(name) < (0, 10):
        return ApiVersionsResponse(api_keys=[])
    with RealKafka(VERSIONS[name]) as kafka:
        host, _, port = kafka.bootstrap_servers.partition(":")
        asker = Asker((host, int(port)))
        plain: ApiVersionsResponse = asker.ask(ApiVersionsRequest(), 0)
        last = {each.api_key: each.max_version for each in plain.api_keys}[18]
        who = ApiVersionsRequest(client_software_name="odradek", client_software_version="1")
        newest: ApiVersionsResponse = asker.ask(who, last)
        asker.close()
        return newest


def _groups_lack(name: str, newer: str) -> list[str]:
    """The configs of a group that a newer release has besides."""
    resource = DescribeConfigsRequest.Resource(
        resource_type=GROUP_RESOURCE, resource_name="g", configuration_keys=None
    )
    with RealKafka(VERSIONS[name]) as kafka:
        asker = Asker(("127.0.0.1", kafka.port))
        answer = asker.ask(DescribeConfigsRequest(resources=[resource]), 1)
        asker.close()
    mine = {each.name for each in answer.results[0].configs}
    gone = BrokerConfig(release=release_named(newer)).gone_group
    return [each for each in group_definitions() if each not in mine and each not in gone]


def ranges(name: str, answer: ApiVersionsResponse) -> dict[int, tuple[int, int]]:
    """The APIs of an answer, by key."""
    if numbers(name) < (0, 10):
        return _APIS_0_8_2
    found = {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys}
    return dict(sorted(found.items()))


def _rows(name: str, newer: str, *, is_topic: bool) -> list[str]:
    """What a release has otherwise than the next newer one."""
    if name == "3.9":
        return []  # config/kafka_3_9.py
    if name == "0.8.2":
        return _rows_0_8_2(newer, is_topic=is_topic)
    configs = topic_configs if is_topic else broker_configs
    mine, theirs = configs(VERSIONS[name]), configs(VERSIONS[newer])
    tables = config_tables(KAFKA_4_3 if newer == NEWEST else release_named(newer))
    definitions = tables.topic if is_topic else tables.broker
    gone = [] if is_topic else [f"-{each}" for each in _hidden(tables, VERSIONS[name])]
    lines = [
        *gone,
        *(
            f"-{each} {_AS_IF.get(each, '')}".rstrip()
            for each in theirs
            if each not in mine and each in definitions and each not in UNLISTED
        ),
    ]
    for each, config in mine.items():
        if _differs(config, theirs.get(each)):
            known = definitions.get(each)
            lines += row_of(each, config, theirs.get(each), known and (known.rule or "*"))
    if not is_topic and name in _UNPRINTED:
        own = _UNPRINTED[name]
        lines = [each for each in lines if each.split()[0] != own.split()[0]] + [own]
    return lines


def _hidden(tables: ConfigTables, version: str) -> list[str]:
    """The configs that no page shows, and that the classes of a release do not name."""
    known = constants(version, r".*(?:Config|Defaults|Dynamic|Quota|Replication).*\.class")
    return [
        each
        for each, row in tables.broker.items()
        if (row.mode == "internal" or each in UNLISTED)
        and each not in OF_THE_AUTHORIZER
        and tables.is_settable(each)
        and (each not in known or (version == "3.3.2" and each.startswith(_OF_TIERS)))
    ]


def _rows_0_8_2(newer: str, *, is_topic: bool) -> list[str]:
    tables = config_tables(release_named(newer))
    known = constants(VERSIONS["0.8.2"], _CLASSES_0_8_2[is_topic])
    names = tables.topic if is_topic else filter(tables.is_settable, tables.broker)
    gone = [f"-{each}" for each in names if each not in known]
    return gone if is_topic else [*gone, *_CHANGED_0_8_2.strip().splitlines()]


def _differs(one: Config, other: Config | None) -> bool:
    """Whether it is more than a word of documentation, or how a range is written."""
    if other is None:
        return True
    return [_plain(each) for each in one] != [_plain(each) for each in other]


def _plain(text: str) -> str:
    return re.sub(r"[\s\"]", "", text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
