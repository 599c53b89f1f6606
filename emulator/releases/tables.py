"""Reads the table of a release, and says from which release on brokers are as they are now.

A table is a file NAME.tsv in this folder, written by `python -m tests.releases.record NAME`:

    [about]     the version of the broker that was asked, and the next newer release
    [apis]      key, first and last version, as ApiVersions answers
    [features]  name, first and last level that a node knows
    [broker]    configs of a broker that the newer release has otherwise, or not: rows of
                config/definition.py; `-name` for one of the newer release that this one lacks,
                and the value that is as this one does without
    [topic]     the same of topics
    [group]     the same of groups, in releases whose groups have configs

Left out: how the configs of 3.9 differ from those of 4.3 (config/kafka_3_9.py).
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

NEWEST = "4.3"
_NAMES_TEXT = "4.3 4.2 4.1 4.0 3.9 3.6 3.3 2.8 2.7 2.4 2.0 1.1 0.11.0 0.10.2 0.8.2"
NAMES = tuple(_NAMES_TEXT.split())
"""Every release, the newest first."""
CHANGED = """
4.3  cordons_directories keeps_topic_ids_of_named_topics counts_epochs_from_1
4.3  shows_brokers_values_of_groups refuses_share_fetches_without_group
4.3  stamps_assignments describes_unrevoked_partitions keeps_epochs_of_partitions
4.3  counts_completed_from_start lets_anybody_read_share_states
4.2  lets_members_rejoin frees_own_partitions
4.2  looks_at_level_first explains_acknowledgements
4.2  alters_share_offsets takes_any_share_members counts_completed_deliveries
4.2  checks_lists_of_metrics isolates_bad_records explains_unknown_lists
4.1  leaves_extra_partitions hashes_subscriptions describes_each_group_once forgets_starts
4.1  fences_by_one_epoch
4.1  keeps_topic_ids_of_offsets has_share_coordinator has_streams_groups
4.1  fences_before_verifying begins_transactions_at_0
4.1  shows_defaults_of_client_metrics explains_unregistered_brokers
4.0  converts_old_formats compacts_into_old_formats failed_fetch_has_null_records
4.0  lists_offsets_entry_by_entry has_consumer_groups has_group_configs
4.0  newcomers_leave_with_a_round writes_new_groups numbers_group_records
4.0  tells_commits_of_missing_groups fences_at_start updates_features_one_by_one
4.0  quorum_keeps_kraft_version records_zookeeper_migration unknown_features_have_level_0
4.0  names_both_levels_of_a_downgrade
4.0  tells_generations_of_missing_groups
3.9  walks_produced_batches lists_only_asked_directories verifies_transactional_offsets
3.9  refuses_unknown_timestamps caps_min_insync_replicas
3.6  takes_broker_times bounds_quotas ends_with_partition fetches_each_group
3.3  has_kraft creates_topics_unknown refuses_long_records checks_described_topics
3.3  refuses_unknown_instances moves_partitions_with_records checks_transactions_like_commits
3.3  leaves_out_cut_batches refuses_empty_conversions lists_aborted_of_unknown
3.3  counts_rejected_records
3.3  refuses_strange_replicas lets_pending_instances_leave
2.8  refuses_unknown_coordinators
2.8  names_invalid_topics removes_unsynced_members answers_empty_sets refuses_unknown_acls
2.7  gathers_record_errors judges_configs_late says_what_is_not_asked keeps_epochs_in_sessions
2.7  splices_defaults
2.7  keeps_unknown_resources judges_vague_rules reads_null_values
2.7  accepts_first_sequences describes_defaults_only_later
2.7  names_null_configs knows_missing_topics
2.4  names_versions_of_api_versions names_invalid_records tells_stable_offset_to_all
2.4  looks_for_topics_first answers_unknown_coordinators refuses_joins_without_generation
2.4  describes_each_entry starts_after_times keeps_epochs_of_offsets
2.7  lets_waiting_members_beat
2.7  refuses_unknown_levels answers_each_entry
2.4  lists_missing_replicas checks_generations_first
2.0  names_missing_replicas knows_epoch_of_empty_logs looks_for_partitions_of_offsets
2.0  converts_step_by_step names_empty_group_ids names_unknown_sequences
2.4  reads_nothing_to_itself fences_offsets
2.0  looks_at_magic_first
2.0  has_patterns_of_rules forgets_other_resources looks_for_described_topics
0.11.0  takes_null_configs stores_batches
1.1  takes_formats_of_one_magic
1.1  remembers_batches checks_counts names_completing_rebalances alters_brokers
1.1  has_future_replicas
1.1  refuses_disabled_deletion drops_headers knows_unknown_producers hides_mechanisms
0.10.2  has_members refuses_names_one_by_one
"""
"""The release that brought each capability (base/release.py) to what it is in the newest."""


class Table(NamedTuple):
    name: str
    version: str
    """Of the broker that was asked."""
    newer: str
    """The next release, from which the configs differ as it says here."""
    apis: dict[int, tuple[int, int]]
    features: dict[str, tuple[int, int]]
    features_epoch: int
    """Of a cluster without KRaft."""
    broker: str
    broker_gone: dict[str, str]
    """Configs that only the newer release has: name to the value that this one is as if it had, or
    nothing for the default."""
    topic: str
    topic_gone: dict[str, str]
    group_gone: dict[str, str]


@cache
def table(name: str) -> Table:
    """The table of a release, which is one of NAMES, and not the newest."""
    text = (Path(__file__).parent / f"{name}.tsv").read_text(encoding="utf-8")
    sections: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("["):
            lines = sections.setdefault(line.strip("[]"), [])
        elif line:
            lines.append(line)
    about = dict(line.split() for line in sections["about"])
    ranges = {
        kind: {words[0]: (int(words[1]), int(words[2])) for words in map(str.split, sections[kind])}
        for kind in ("apis", "features")
    }
    broker, broker_gone = _configs(sections["broker"])
    topic, topic_gone = _configs(sections["topic"])
    return Table(
        name,
        about["version"],
        about["newer"],
        {int(key): versions for key, versions in ranges["apis"].items()},
        ranges["features"],
        int(about["features_epoch"]),
        broker,
        broker_gone,
        topic,
        topic_gone,
        _configs(sections.get("group", []))[1],
    )


def _configs(lines: list[str]) -> tuple[str, dict[str, str]]:
    gone = [line for line in lines if line.startswith("-")]
    rows = "\n".join(line for line in lines if line not in gone)
    return rows, {name: text for name, _, text in (line[1:].partition(" ") for line in gone)}


def older_capabilities(name: str) -> frozenset[str]:
    """The capabilities that a release has not as the newest has them."""
    return frozenset(
        capability
        for line in CHANGED.strip().splitlines()
        if numbers(name) < numbers(line.split()[0])
        for capability in line.split()[1:]
    )


def numbers(name: str) -> tuple[int, ...]:
    """The numbers of a release, to be compared: (0, 11, 0). Raises ValueError."""
    return tuple(map(int, name.split(".")))


_VERSION = re.compile(r"\d{1,3}(\.\d{1,3}){0,3}")
_OF_0_7 = "odradek.emulator.kafka_0_7.Kafka07"


def find(text: str) -> str:
    """The release of a version, as people write it: "2.7", "2.7.2", "0.11".

    Raises ValueError for others, naming the nearest.
    """
    is_version = _VERSION.fullmatch(text) is not None
    for name in NAMES if is_version else ():
        is_line = text.startswith("0.") and text.count(".") == 1 and name.startswith(f"{text}.")
        if text == name or text.startswith(f"{name}.") or is_line:
            return name
    if text == "0.7" or text.startswith("0.7."):
        raise ValueError(f"Kafka {text} speaks a protocol of its own: use {_OF_0_7}")
    there = f"there are {', '.join(NAMES)}"
    if not is_version:
        raise ValueError(f"no release {text!r} of Kafka here; {there}")
    asked = *numbers(text), 0, 0  # "2" is 2.0
    known = NAMES[::-1]
    # The newest that is not newer: what a client of the release asked for can talk to.
    older = [name for name in known if numbers(name) <= asked]
    nearest = older[-1] if older else known[0]
    raise ValueError(f"no release {text!r} of Kafka here, the nearest is {nearest}; {there}")
