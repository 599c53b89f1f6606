"""`python -m tests.docs.documents_page`: writes docs/documents.md, from the table below.

A requirement is a line of what Kafka's own documentation of its implementation asks for. It has the
documents that ask for it, the modules that do it, the tests that show it, and a sentence where a
real Kafka does otherwise, or where something is not built. test_documents.py holds that all of
these are there.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/documents.md"

DOCUMENTS = {
    "0.7": "Kafka 0.7: design and implementation, translated into Chinese (Kafka 中文文档)",
    "0.10": "Kafka 0.10: implementation, translated into Chinese (Kafka官方文档翻译——实现)",
    "0.10 log": "Kafka 0.10: message format and log, translated into Chinese (5.4 消息格式)",
    "1.x": "Kafka 1.x: the log, in English and Chinese (5.4 Log)",
    "2.7": "Kafka 2.7: implementation, translated into Japanese (Kafka 2.7 Documentation, 5. 実装)",
}
ALL = "0.7, 0.10, 1.x, 2.7"


class Row(NamedTuple):
    """One requirement."""

    what: str
    documents: str
    built: tuple[str, ...] = ()
    """Paths from the root."""
    tests: tuple[str, ...] = ()
    """Paths from `tests`, and names: "wire/test_records.py::test_x"."""
    otherwise: str = ""
    """Where a real Kafka does otherwise, and what is not built; with links as from docs/."""


def _rule(number: str, text: str) -> str:
    return f"{text} ([0.{number}](semantics/0-documentation.md#0-{number}))"


NETWORK = [
    Row(
        "one acceptor, and a fixed number of connections for each of the threads behind it",
        "0.7, 0.10, 2.7",
        ("emulator/net/listener.py", "emulator/net/server.py"),
        (
            "emulator/net/test_listener.py",
            "emulator/net/test_server.py::test_a_thousand_connections_of_random_bytes_harm_nobody",
        ),
        "One event loop in one thread serves all connections: a test has no use for more.",
    ),
    Row(
        "a very simple protocol: a size, and so many bytes",
        "0.7, 0.10, 2.7",
        ("wire/frames.py",),
        ("wire/test_frames.py::test_frames_arrive_whole_whatever_the_size_of_the_pieces",),
    ),
    Row(
        "stored messages go from file to socket without a copy, by sendfile",
        "0.7, 0.10, 2.7",
        ("emulator/net/server.py", "storage/reading.py"),
        (
            "emulator/net/test_zero_copy.py::"
            "test_a_fetched_batch_is_sent_from_a_mapping_of_its_file",
            "emulator/net/test_zero_copy.py::"
            "test_a_batch_is_written_from_the_buffer_that_the_socket_filled",
        ),
        "From a mapping of the file, not by sendfile, which was measured and is no faster here.",
    ),
]

MESSAGES = [
    Row(
        "key and value are opaque bytes",
        ALL,
        ("wire/records.py",),
        ("wire/test_records.py::test_every_batch_built_is_read_back",),
    ),
    Row(
        "records have headers, since 0.11",
        "2.7",
        ("wire/records.py", "wire/walk.py"),
        ("wire/test_records.py::test_header_keys_survive_even_if_they_are_not_utf_8",),
    ),
    Row(
        "record batch of magic 2: its fields, and CRC-32C from the attributes on",
        "2.7",
        ("wire/records.py", "wire/checksum.py"),
        (
            "wire/test_records.py::test_a_header_is_all_of_its_fields",
            "wire/test_records.py::test_a_header_needs_61_bytes",
            "wire/test_records.py::test_offset_and_epoch_are_assigned_outside_the_checksum",
        ),
        _rule("3", "The listing leaves out the number of records, and the bit of a delete horizon"),
    ),
    Row(
        "codecs none, gzip, snappy, lz4, zstd",
        "2.7",
        ("wire/compression.py",),
        ("wire/test_records.py::test_python_clients_and_we_read_each_other",),
    ),
    Row(
        "compaction keeps first and last offset and sequence of a batch; an empty one may remain",
        "2.7",
        ("storage/compaction",),
        (
            "storage/compaction/test_log_compaction.py::"
            "test_a_batch_that_loses_some_keeps_what_it_is",
            "storage/compaction/test_log_compaction.py::"
            "test_a_producers_last_batch_stays_as_a_header",
        ),
    ),
    Row(
        "control batches: one record that says abort or commit, never shown to applications",
        "2.7",
        ("wire/records.py", "emulator/transactions"),
        (
            "wire/test_records.py::test_a_marker_is_78_bytes_and_says_how_a_transaction_ended",
            "clients/test_transactions.py::"
            "test_committed_work_is_seen_once_and_aborted_work_is_done_again",
        ),
        "A broker returns them; it is the clients that do not show them.",
    ),
    Row(
        "message sets of magic 0 and 1: CRC-32 from the magic on, compressed sets in a message, "
        "inner offsets absolute in 0 and relative in 1",
        "0.10, 0.10 log, 2.7",
        ("wire/legacy/message_sets.py", "wire/legacy/up_conversion.py"),
        (
            "wire/legacy/test_message_sets.py::test_an_entry_is_laid_out_as_the_documents_say",
            "wire/legacy/test_message_sets.py::"
            "test_inner_offsets_are_absolute_in_magic_0_and_relative_in_magic_1",
            "wire/legacy/test_message_sets.py::"
            "test_a_wrapper_has_no_key_and_the_largest_inner_time",
        ),
        _rule("4", "The checksum is not of the payload alone"),
    ),
    Row(
        "messages of 0.7: length, magic, attributes, CRC-32 of the payload, payload; known by "
        "their byte position",
        "0.7, 0.10 log, 1.x",
        ("wire/legacy/kafka_0_7.py",),
        (
            "wire/legacy/test_kafka_0_7.py::test_a_message_is_laid_out_as_the_documents_say",
            "wire/legacy/test_kafka_0_7.py::test_a_message_is_known_by_its_byte_position",
            "wire/legacy/test_kafka_0_7.py::test_messages_in_a_compressed_one_share_its_position",
        ),
        _rule("2", "Since 0.8 offsets count messages"),
    ),
    Row(
        "requests of 0.7: Produce, MultiProduce, Fetch, MultiFetch, Offsets by byte offset",
        "0.7",
        ("wire/legacy/requests_0_7.py", "storage/log_0_7.py", "emulator/kafka_0_7"),
        (
            "wire/legacy/test_requests_0_7.py::test_the_bytes_of_requests",
            "storage/test_log_0_7.py::test_files_are_named_by_the_position_of_their_first_message",
            "emulator/kafka_0_7/test_broker.py::test_several_at_once",
            "emulator/kafka_0_7/test_clients.py::test_brod_produces_and_fetches",
        ),
        "By a broker of its own: [Kafka 0.7](kafka-0.7.md). No broker of 0.7 can be had to hold "
        "it against; clients of then can.",
    ),
]

LOG = [
    Row(
        "a directory for each partition, files named by their first offset",
        ALL,
        ("storage/naming.py", "storage/log_directory.py"),
        (
            "storage/test_naming.py::test_names_as_kafka_has_them",
            "storage/test_naming.py::test_names_as_the_documents_have_them",
        ),
        _rule(
            "1", 'A real Kafka names them otherwise; `naming="documented"` names them as written'
        ),
    ),
    Row(
        "appends go to the last file, which is rolled at a size, and by age",
        ALL,
        ("storage/log.py", "storage/segment.py"),
        (
            "storage/test_log.py::test_a_segment_is_rolled_when_it_would_grow_over_its_size",
            "storage/test_log.py::test_a_segment_is_rolled_by_age",
        ),
    ),
    Row(
        "a flush after M messages or S seconds; a crash loses no more than that",
        ALL,
        ("storage/flush.py", "emulator/maintenance/flusher.py"),
        (
            "storage/test_flush.py::test_a_flush_is_due_by_number_or_by_age",
            "emulator/maintenance/test_log_manager.py::"
            "test_after_so_many_messages_the_disk_has_them",
            "storage/recovery/test_power_cuts.py",
        ),
    ),
    Row(
        "reads by a 64-bit offset and a largest chunk, which may end in a partial message",
        ALL,
        ("storage/reading.py", "storage/lookup.py"),
        (
            "storage/test_log.py::test_a_read_begins_with_the_batch_that_contains_the_offset",
            "storage/test_log.py::test_a_chunk_may_end_in_a_partial_batch",
        ),
    ),
    Row(
        "the segment is found by binary search over ranges in memory, then the position in it",
        ALL,
        ("storage/lookup.py", "storage/index.py"),
        (
            "storage/test_segment.py::test_a_batch_is_found_by_every_offset_up_to_its_last",
            "storage/test_index.py::test_an_offset_is_looked_for_from_the_entry_at_or_before_it",
        ),
    ),
    Row(
        "a message larger than the chunk can still be had, by reading with a larger one",
        ALL,
        ("emulator/handlers/fetch.py",),
        ("emulator/handlers/test_fetch.py::test_the_first_batch_is_whole_whatever_the_limit",),
        "Since 0.10.1 a fetch returns the first batch whole, however large (KIP-74).",
    ),
    Row(
        "a message that is too large is refused",
        ALL,
        ("emulator/partitions/produced_batches.py",),
        ("emulator/handlers/test_produce.py::test_a_batch_of_exactly_the_limit_passes",),
    ),
    Row(
        "an offset outside of the log is out of range; latest and earliest can be asked for",
        ALL,
        ("emulator/handlers/fetch.py", "emulator/handlers/list_offsets.py"),
        (
            "emulator/handlers/test_fetch.py::test_outside_the_log_is_out_of_range",
            "emulator/handlers/test_list_offsets.py::test_times_and_offsets",
        ),
    ),
    Row(
        "segments are deleted whole, by the time of their latest record, by size, or both",
        ALL,
        ("storage/retention.py", "emulator/maintenance/log_manager.py"),
        (
            "storage/test_retention.py::test_segments_go_when_their_latest_record_is_too_old",
            "storage/test_retention.py::"
            "test_segments_go_while_the_log_without_them_is_large_enough",
            "storage/test_retention.py::test_kafkas_rules_apply_one_after_the_other",
        ),
    ),
    Row(
        "a policy that can be replaced says which go",
        ALL,
        ("storage/retention.py",),
        ("emulator/maintenance/test_log_manager.py::test_a_policy_of_ones_own_decides",),
        "A real Kafka has no such policy any more; here it is `Emulator(retention=...)`.",
    ),
    Row(
        "who reads has a list of segments that does not change while others go",
        ALL,
        ("storage/log.py",),
        (
            "storage/test_retention.py::"
            "test_who_has_the_old_list_of_segments_reads_on_until_the_files_are_unlinked",
            "storage/test_retention.py::test_a_view_that_was_read_outlives_its_segment",
        ),
    ),
    Row(
        "at a start the newest segment is checked message by message, by size and checksum, and "
        "cut at the last valid one: both a lost end, and nonsense in the file",
        ALL,
        ("storage/recovery",),
        (
            "storage/recovery/test_recovery.py::"
            "test_after_a_kill_a_log_ends_behind_its_last_valid_batch",
            "storage/recovery/test_recovery.py::"
            "test_any_damage_to_the_newest_segment_leaves_what_lies_before_it",
            "storage/recovery/test_bit_flips.py",
        ),
        _rule("5", "A message that ends where the file ends is valid, too"),
    ),
]

OFFSETS = [
    Row(
        "FindCoordinator says which broker keeps the offsets of a group",
        "0.10, 2.7",
        ("emulator/handlers/find_coordinator.py", "emulator/groups/coordinators.py"),
        ("emulator/handlers/test_find_coordinator.py",),
    ),
    Row(
        "OffsetCommit is appended to the compacted topic __consumer_offsets, and answered then",
        "0.10, 2.7",
        ("emulator/handlers/offset_commit.py", "emulator/groups/coordinator.py"),
        (
            "emulator/groups/offsets/test_records.py::"
            "test_the_bytes_in_the_offsets_topic_are_kafkas",
            "emulator/handlers/test_offset_commit.py::"
            "test_an_offset_is_remembered_in_every_version",
        ),
    ),
    Row(
        "the topic is compacted from time to time; a table in memory serves OffsetFetch",
        "0.10, 2.7",
        ("emulator/groups/offsets", "emulator/maintenance/cleaner.py"),
        (
            "emulator/handlers/test_offset_fetch.py::"
            "test_what_was_committed_is_reported_in_every_version",
            "emulator/groups/test_restarts.py::"
            "test_a_stable_group_comes_back_with_its_members_and_offsets",
        ),
    ),
    Row(
        "while the table is loaded, requests fail, and clients try again",
        "0.10, 2.7",
        ("emulator/readiness",),
        (
            "emulator/readiness/test_coordinators.py::"
            "test_it_then_does_not_know_of_groups_and_then_loads_them",
        ),
        'With `timing="kafka"`; otherwise everything is loaded at once. '
        + _rule("8", "The error is COORDINATOR_LOAD_IN_PROGRESS"),
    ),
]

REGISTRIES = [
    Row(
        "/brokers/ids/[id]: a broker's addresses, in a node that goes with it",
        ALL.replace("1.x, ", ""),
        (
            "emulator/zookeeper/registry.py",
            "emulator/zookeeper/contents.py",
            "emulator/kafka_0_7/broker.py",
        ),
        (
            "emulator/zookeeper/test_registry.py::test_each_release_has_nodes_of_its_own",
            "emulator/kafka_0_7/test_broker.py::test_it_registers_as_brokers_of_0_7_did",
        ),
        "In the form of each release. Of 0.7 the documents have host:port; its clients want a "
        "third part in front, which is there.",
    ),
    Row(
        "/brokers/topics/[topic]/partitions/[n]/state: leader and replicas in sync",
        "0.10, 2.7",
        ("emulator/zookeeper/registry.py", "emulator/zookeeper/contents.py"),
        ("emulator/zookeeper/test_registry.py::test_each_leaves_the_nodes_that_kafka_leaves",),
        "The documents call it an ephemeral node; a real Kafka's is not, and stays.",
    ),
    Row(
        "/consumers/[group]/ids, /owners, /offsets: what consumers of before 0.9 keep there",
        "0.7, 0.10",
        ("emulator/zookeeper/tree.py",),
        (
            "emulator/zookeeper/test_old_consumers.py::"
            "test_offsets_stay_when_their_consumer_has_gone",
            "emulator/zookeeper/test_tools.py::test_consumers_of_0_8_share_partitions_and_offsets",
        ),
        _rule("6", "Consumers write them, not brokers, and none does since 0.9"),
    ),
    Row(
        "the nodes are kept by ZooKeeper: sessions, ephemeral nodes, watches",
        "0.7, 0.10, 2.7",
        ("emulator/zookeeper",),
        (
            "emulator/zookeeper/test_differential.py::test_the_same_answers",
            "emulator/zookeeper/test_kazoo.py",
            "emulator/zookeeper/test_tools.py::test_a_broker_keeps_its_metadata_there",
        ),
        "Before 4.0, and asked for: [ZooKeeper](zookeeper.md).",
    ),
    Row(
        "the cluster id: 22 characters, URL-safe base64 of 16 bytes, at /cluster/id",
        "0.10, 2.7",
        ("storage/log_directory.py", "emulator/zookeeper/registry.py"),
        (
            "storage/test_checkpoints.py::test_any_cluster_id_survives_meta_properties",
            "emulator/zookeeper/test_registry.py::test_each_leaves_the_nodes_that_kafka_leaves",
        ),
    ),
    Row(
        "rebalancing: partitions and consumers are sorted, and each consumer takes its slice",
        "0.7, 0.10",
        ("emulator/groups/classic", "emulator/groups/consumer"),
        (
            "emulator/zookeeper/test_old_consumers.py::"
            "test_partitions_are_shared_anew_when_consumers_come_and_go",
            "emulator/groups/consumer/test_assignors.py::"
            "test_range_splits_topics_of_one_size_alike",
        ),
        _rule("7", "The formula drops the remainder; the first consumers get it"),
    ),
]

PIPELINES = [
    Row(
        "batches of a topic are loaded in parallel, a task for each partition, from an offset on, "
        "and again where one has failed",
        "0.7, 0.10",
        ("compat/spark/pipeline/load", "compat/spark/source"),
        (
            "compat/spark/pipeline/test_load.py::"
            "test_a_load_into_a_topic_goes_on_where_it_was_killed",
            "compat/spark/pipeline/test_export.py",
        ),
        "By Spark, where the documents have Hadoop: [Spark](spark.md).",
    ),
    Row(
        "a cluster is mirrored into another one, by consuming it",
        "0.7, 0.10",
        ("compat/spark/pipeline/mirror",),
        (
            "compat/spark/pipeline/mirror/test_mirror.py::test_everything_is_at_its_offset",
            "compat/spark/pipeline/mirror/test_killed.py::test_killed_and_run_again",
        ),
    ),
]

SECTIONS = {
    "Network": NETWORK,
    "Messages": MESSAGES,
    "Log": LOG,
    "Offsets": OFFSETS,
    "Registries": REGISTRIES,
    "Pipelines": PIPELINES,
}


def page() -> str:
    lines = [
        "# What Kafka's documentation asks for",
        "",
        "Kafka's own documentation has chapters about its implementation. Each requirement of them",
        "is listed here: where it is built, which test shows it, and where a real Kafka does",
        "otherwise. What is not built is said. Made by `python -m tests.docs.documents_page`.",
        "",
        "The documents:",
        "",
        *(f"- **{name}**: {title}" for name, title in DOCUMENTS.items()),
    ]
    for title, rows in SECTIONS.items():
        lines += ["", f"## {title}", ""]
        lines += ["| what | documents | where | tests | what differs |", "|---|---|---|---|---|"]
        lines += [_line(row) for row in rows]
    return "\n".join(lines) + "\n"


def _line(row: Row) -> str:
    built = ", ".join(f"[{_short(path)}](../{path})" for path in row.built) or "not built"
    tests = ", ".join(_test(each) for each in row.tests)
    return f"| {row.what} | {row.documents} | {built} | {tests} | {row.otherwise} |"


def _short(path: str) -> str:
    return f"`{path}`"


def _test(text: str) -> str:
    path, _, name = text.partition("::")
    shown = name or Path(path).stem
    return f"[`{shown}`](../tests/{path})"


if __name__ == "__main__":
    PAGE.write_text(page())
