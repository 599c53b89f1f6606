"""The releases of Kafka that can be emulated.

A release has the versions of every API and the features that a broker of it advertises, read off
running brokers, and a capability for each other difference. Code that differs between releases
asks for a capability, never for the name of a release. The newest is here; each other one is a
table (releases/tables.py), read when it is asked for.

An API that is not emulated is not advertised, even if it is in the row. Kafka 4 advertises Produce
from 0 on although it serves it from 3 on: librdkafka would otherwise turn compression off
(KAFKA-18659).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from typing import Any, Literal

Range = tuple[int, int]

# GetTelemetrySubscriptions, PushTelemetry: advertised only where a plug-in takes metrics.
_TELEMETRY: dict[int, Range] = {71: (0, 0), 72: (0, 0)}
_TELEMETRY_SINCE = (3, 7)
_MIGRATION_LEVEL = 8
"""Of metadata.version, 3.4."""

_FEATURES_4_3: dict[str, Range] = {
    "group.version": (0, 1),
    "kraft.version": (0, 1),
    "metadata.version": (7, 30),
    "share.version": (0, 1),
    "streams.version": (0, 1),
    "transaction.version": (0, 2),
    "eligible.leader.replicas.version": (0, 1),
}


@dataclass(frozen=True)
class Release:
    """One release of Kafka, as far as clients can tell it from others. The defaults are those of
    4.3: a row says what differs from that."""

    name: str
    advertised: Mapping[int, Range]
    """First and last version of each API."""
    not_served_before: Mapping[int, int] = field(default_factory=dict)
    """Advertised, but answered by closing the connection."""
    unadvertised: Mapping[int, Range] = field(default_factory=lambda: _TELEMETRY)
    """Served, but not advertised."""
    features: Mapping[str, Range] = field(default_factory=lambda: _FEATURES_4_3)
    """First and last level of each feature that a node knows, in the order of its answers."""
    features_epoch: int = -1
    """The epoch of the features where there is no KRaft."""
    has_kraft: bool = True
    """Metadata is kept by KRaft, and has features; else by ZooKeeper, and brokers advertise the
    APIs that are for them alone, too."""
    names_versions_of_api_versions: bool = True
    """A version of ApiVersions that is not known is answered with those that are (KIP-511)."""

    # Records
    converts_old_formats: bool = False
    """Message sets of before 0.11 are accepted and returned: Produce v0-2, Fetch v0-3."""
    compacts_into_old_formats: bool = False
    """Compaction keeps old messages in their format; else it writes them as batches of magic 2."""
    failed_fetch_has_null_records: bool = False
    """The answer to a fetch that is refused as a whole has null records, not empty ones; up to 2.8
    (`refuses_empty_conversions`) empty ones all the same, and lists as of unknown partitions."""
    verifies_transactional_offsets: bool = True
    """TxnOffsetCommit asks the transaction coordinator whether the transaction is under way."""
    walks_produced_batches: bool = True
    """Produce looks at every batch of a request for producers first, and what cannot be looked at
    refuses all of it; else each partition is judged by itself."""
    counts_rejected_records: bool = True
    """The sentence about rejected records says how many there are, and shows three."""
    ends_with_partition: bool = True
    """The sentence about a record without a key ends with its partition; else with a dot."""
    refuses_long_records: bool = True
    """A record that is longer than what is left of its batch is INVALID_RECORD; else
    UNKNOWN_SERVER_ERROR, unless it is the last and something is left."""
    answers_empty_sets: bool = True
    """Produce with no whole entry, or with damage in its place, is refused, and of a partition that
    is named twice all entries are judged; else the connection is closed, and the last entry counts
    alone."""
    gathers_record_errors: bool = True
    """Produce names every record of a batch that is refused, and why; else the first one."""
    names_invalid_records: bool = True
    """A batch that is not one is INVALID_RECORD (87); else CORRUPT_MESSAGE, or, where a request may
    hold nothing but one batch for each partition (v3), the connection is closed."""
    tells_stable_offset_to_all: bool = True
    """Fetch has the last stable offset whatever the isolation level; else -1 if uncommitted."""
    lists_aborted_of_unknown: bool = True
    """An unknown partition has an empty list of aborted transactions in Fetch; else null."""
    accepts_first_sequences: bool = True
    """A producer that is not known may begin with any sequence (KIP-360); else it is
    UNKNOWN_PRODUCER_ID if it does not begin with 0."""
    knows_unknown_producers: bool = True
    """A producer that does not begin with 0 is UNKNOWN_PRODUCER_ID; else
    OUT_OF_ORDER_SEQUENCE_NUMBER."""
    names_unknown_sequences: bool = True
    """A producer of which nothing is known but a marker, or that has no epoch, is
    UNKNOWN_PRODUCER_ID if it does not begin with 0; else OUT_OF_ORDER_SEQUENCE_NUMBER."""
    remembers_batches: bool = True
    """The last five batches of a producer are known when they come again; else the last alone."""
    looks_at_magic_first: bool = True
    """What begins with a magic that there is not is damage also where it is cut; else it is cut."""
    checks_counts: bool = True
    """A batch has to say rightly how many records it has; else they are counted."""
    starts_after_times: bool = True
    """Produce has the log start offset also where a time is refused."""
    takes_broker_times: bool = True
    """Messages and batches that claim the broker's time (LogAppendTime) are taken; else
    INVALID_TIMESTAMP."""
    refuses_unknown_timestamps: bool = True
    """ListOffsets of a negative timestamp that its version does not know is UNSUPPORTED_VERSION;
    else it is a time like any other."""
    caps_min_insync_replicas: bool = True
    """min.insync.replicas counts no more replicas than a partition has."""
    leaves_out_cut_batches: bool = True
    """A read for an old client in which no batch is whole is empty; else as it is stored."""
    converts_step_by_step: bool = True
    """Batches are converted for an old client while they are sent, and what is too short is filled
    (KIP-283); else they are converted before the answer is made."""
    drops_headers: bool = True
    """An old client gets records without their headers; else UNKNOWN_SERVER_ERROR for them."""
    refuses_empty_conversions: bool = True
    """Without down-conversion a read of no whole batch is refused, too; and a refusal has null
    records."""
    moves_partitions_with_records: bool = True
    """In a fetch session the partitions that have records are the last ones next time; else those
    that are answered."""
    knows_epoch_of_empty_logs: bool = True
    """OffsetForLeaderEpoch of the leader's epoch has the end of the log; else -1 where nothing was
    written in it."""
    names_missing_replicas: bool = True
    """Whoever reads as a debugger what is not there has UNKNOWN_TOPIC_OR_PARTITION; else
    REPLICA_NOT_AVAILABLE."""
    refuses_strange_replicas: bool = True
    """Fetch of a broker that is none of a partition's replicas is refused; else it reads nothing,
    without an error."""
    reads_nothing_to_itself: bool = True
    """A broker that fetches from itself reads nothing; else all is UNKNOWN_SERVER_ERROR."""
    keeps_epochs_in_sessions: bool = True
    """A fetch session keeps the leader epoch that a client names, and in Fetch one below -1 is
    none; else sessions have none, and that one is before all."""
    has_future_replicas: bool = True
    """Who fetches as a replica that moves between directories (-3) reads what there is; else as a
    consumer."""
    lists_missing_replicas: bool = True
    """The same of whoever asks for its offsets."""
    refuses_unknown_levels: bool = True
    """Fetch and ListOffsets with an unknown isolation level are answered UNKNOWN_SERVER_ERROR; else
    the connection is closed."""
    lists_offsets_entry_by_entry: bool = False
    """ListOffsets answers the entries of a request one by one; else it groups them by topic, and
    refuses all of them for an unknown isolation level."""

    # Groups
    has_members: bool = True
    """Groups have members; else offsets alone, which anybody may commit, of any topic. Since then
    Produce judges messages; else nothing but their checksums."""
    has_consumer_groups: bool = True
    """Groups of KIP-848, with the feature group.version."""
    has_group_configs: bool = True
    """Groups are resources with configs."""
    shows_brokers_values_of_groups: bool = True
    """A config that a group does not set has the brokers' value; else, where it is described, and
    for a streams group that sets others, its own default."""
    refuses_share_fetches_without_group: bool = True
    """ShareFetch and ShareAcknowledge without a group or a member are INVALID_REQUEST; else
    UNKNOWN_SERVER_ERROR."""
    newcomers_leave_with_a_round: bool = True
    """A new member that does not join a second time leaves when the round ends."""
    looks_for_partitions_of_offsets: bool = True
    """Offsets of a partition that is not there are UNKNOWN_TOPIC_OR_PARTITION; else a topic is
    enough."""
    lets_waiting_members_beat: bool = True
    """Heartbeat of a member that waits for its assignment is right; else REBALANCE_IN_PROGRESS."""
    checks_transactions_like_commits: bool = True
    """TxnOffsetCommit to an empty group may name any member where it has no generation; else a
    member that is named must be there."""
    names_completing_rebalances: bool = True
    """A group that waits for its assignment is CompletingRebalance; else AwaitingSync."""
    checks_generations_first: bool = True
    """Heartbeat and OffsetCommit while members wait for their assignments look at the generation
    first; else they are REBALANCE_IN_PROGRESS, and the commit whoever asks."""
    fences_offsets: bool = True
    """TxnOffsetCommit in an epoch before the producer's last one is INVALID_PRODUCER_EPOCH; else
    it is as any other."""
    names_empty_group_ids: bool = True
    """Heartbeat, SyncGroup, LeaveGroup and TxnOffsetCommit of a group without a name are
    INVALID_GROUP_ID; else UNKNOWN_MEMBER_ID, and the offsets are stored."""
    refuses_joins_without_generation: bool = True
    """A refused JoinGroup has the generation -1; else 0."""
    lets_pending_instances_leave: bool = True
    """LeaveGroup may name an instance beside the id of a member that has not joined yet; else it is
    UNKNOWN_SERVER_ERROR."""
    refuses_unknown_instances: bool = True
    """A member that names a static instance of its group that there is not is UNKNOWN_MEMBER_ID;
    else that is so only when it joins."""
    removes_unsynced_members: bool = True
    """A member that has not synced when the rebalance timeout has passed is removed."""
    writes_new_groups: bool = True
    """A classic group is written as soon as it is created; else with its first generation, and one
    without any generation gets no tombstone."""
    numbers_group_records: bool = True
    """Batches of group records have the base sequence 0, as those of offsets have; else none."""
    keeps_epochs_of_offsets: bool = True
    """Committed offsets are written with their leader's epoch, and groups with the instances of
    members; else both in v1, each offset with the time when it expires."""
    keeps_topic_ids_of_offsets: bool = True
    """Committed offsets are written with their topic's id, in v4; else without, in v3."""
    keeps_topic_ids_of_named_topics: bool = True
    """So they are where the commit named the topic; else only where it had the id (v10)."""
    counts_epochs_from_1: bool = True
    """A new group of KIP-848 has the epoch 1, and its first member the next; else 0, and 1."""
    keeps_epochs_of_partitions: bool = True
    """What a member has is written with the epochs in which it came, and offsets of it may be
    committed since then (KIP-1251); else only in the member's own epoch."""
    stamps_assignments: bool = True
    """Target assignments are written with the time at which they were computed."""
    leaves_extra_partitions: bool = True
    """The assignor "uniform" leaves a partition more to members that have it already; else the
    first members get one more each."""
    hashes_subscriptions: bool = True
    """The record of a consumer group has a hash of the topics that it reads; else they are a record
    of their own."""
    isolates_bad_records: bool = True
    """A share group acquires few records that were delivered often at a time, those of a batch in
    ranges, and what a member gives up as its session ends keeps its count; else all of them, one by
    one, and their count is one less."""
    lets_anybody_read_share_states: bool = True
    """ReadShareGroupState without a leader epoch (-1) is right; else it is FENCED_LEADER_EPOCH as
    soon as one is known."""
    alters_share_offsets: bool = True
    """AlterShareGroupOffsets alters offsets, and DeleteShareGroupOffsets of no topics looks for the
    group; else the one does nothing and names only topics that are not there, and the other is
    right."""
    counts_completed_deliveries: bool = True
    """The state of a share group has the number of deliveries that are completed; else -1."""
    checks_lists_of_metrics: bool = True
    """Lists of a metrics subscription have no empty items, and none twice."""
    takes_any_share_members: bool = True
    """A member of a share group may have any id; else those that fetch and acknowledge are UUIDs,
    and others UNKNOWN_SERVER_ERROR."""
    frees_own_partitions: bool = True
    """What a member of a consumer group has not given up yet is free for itself, and what it no
    longer subscribes to is taken from it at once; else it waits until the next heartbeat, and
    until there is a new target."""
    explains_acknowledgements: bool = True
    """ShareFetch says why what it was to acknowledge is refused."""
    lets_members_rejoin: bool = True
    """A member of a consumer or share group may join again at any time, with the epoch 0; else that
    is an epoch like any other, and fenced if it is not the one before."""
    describes_each_group_once: bool = True
    """ConsumerGroupDescribe asks each partition of `__consumer_offsets` for its own groups; else
    for all that are asked for, and an empty id fails all of them."""
    describes_unrevoked_partitions: bool = True
    """A member that is described has what it has not given up yet, too."""
    answers_unknown_coordinators: bool = True
    """FindCoordinator of an unknown type is answered, and a good answer has the message NONE; else
    the connection is closed, and there is no message."""
    checks_described_topics: bool = True
    """DescribeProducers of a name that no topic can have is INVALID_TOPIC_EXCEPTION, and refusals
    have messages; else UNKNOWN_TOPIC_OR_PARTITION, without."""
    refuses_unknown_coordinators: bool = True
    """FindCoordinator of an unknown type is INVALID_REQUEST; else UNKNOWN_SERVER_ERROR."""
    lists_only_asked_directories: bool = True
    """DescribeLogDirs has the topics asked for; else the others, too, without partitions."""
    creates_topics_unknown: bool = True
    """A topic that Metadata creates is at first UNKNOWN_TOPIC_OR_PARTITION; else
    LEADER_NOT_AVAILABLE."""
    tells_commits_of_missing_groups: bool = True
    """OffsetCommit v9 with a generation is GROUP_ID_NOT_FOUND where the group is missing; else
    ILLEGAL_GENERATION, as before v9."""
    tells_generations_of_missing_groups: bool = True
    """TxnOffsetCommit with a generation is ILLEGAL_GENERATION where the group is missing; else
    UNKNOWN_MEMBER_ID, or, up to 2.8, as of a group without members."""
    has_share_coordinator: bool = True
    """FindCoordinator checks the keys of share groups; else their coordinator is not available."""
    has_streams_groups: bool = True
    """Groups of KIP-1071, with the feature streams.version."""

    # Transactions
    forgets_starts: bool = True
    """A producer that starts anew has no start of a transaction; else that of its last one, as long
    as the broker runs."""
    looks_at_level_first: bool = True
    """A request of the second generation where transaction.version is 0 leaves its transactional id
    as it was; else in a transition that never ends: CONCURRENT_TRANSACTIONS until a restart."""
    fences_by_one_epoch: bool = True
    """Of the second generation the abort of a producer that starts anew raises the epoch once; else
    twice."""

    # Metadata
    fences_at_start: bool = True
    """After a kill, a broker first loses the partitions it led, and then leads again."""
    updates_features_one_by_one: bool = False
    """UpdateFeatures changes and answers each feature by itself; else all or none."""
    cordons_directories: bool = True
    """Log directories can be cordoned: CreateTopics has that as a reason for too few brokers."""
    quorum_keeps_kraft_version: bool = True
    """The level of kraft.version is in the quorum's own records; else it is a feature like others,
    and changes nothing in the quorum."""
    records_zookeeper_migration: bool = False
    """A new cluster writes a record that it was not migrated from ZooKeeper."""
    unknown_features_have_level_0: bool = False
    """Setting a feature that the node does not know to level 0 is no error."""
    names_both_levels_of_a_downgrade: bool = True
    """The message for a refused downgrade of metadata.version has both levels."""
    shows_defaults_of_client_metrics: bool = True
    """DescribeConfigs of a metrics subscription shows defaults, types and synonyms; else the texts
    that were set, whichever are asked for."""
    explains_unregistered_brokers: bool = True
    """UnregisterBroker of an unknown broker has a message that names it; else an empty one."""
    refuses_names_one_by_one: bool = True
    """Metadata that would create a topic of a name that there cannot be has INVALID_TOPIC_EXCEPTION
    for that; else for all topics, and creates no more."""
    names_invalid_topics: bool = True
    """Metadata has INVALID_TOPIC_EXCEPTION for a name that no topic can have; else only where it
    may create topics."""
    refuses_unknown_acls: bool = True
    """A filter of access rules that names something unknown (0) closes the connection; else it fits
    nothing."""
    describes_defaults_only_later: bool = True
    """DescribeConfigs v0 says of nothing that it is a default; else of what is one."""
    describes_each_entry: bool = True
    """DescribeGroups answers each entry of a request; else each name once. Brokers have loggers,
    whose levels DescribeConfigs shows (KIP-412)."""
    answers_each_entry: bool = True
    """DescribeConfigs and ListOffsets answer each entry of a request (of the latter those of topics
    with partitions), and a list of no names means all configs; else each name once, and none."""
    fetches_each_group: bool = True
    """OffsetFetch answers each entry for a group; else each group once, as it is named last."""
    bounds_quotas: bool = True
    """Quotas are greater than 0 and no larger than their type; else those that are whole numbers
    have to be whole."""
    counts_completed_from_start: bool = True
    """Where a share group begins, it has completed 0 deliveries; else their number is not known
    before the first is written."""
    splices_defaults: bool = True
    """IncrementalAlterConfigs appends to a list that is not set, and looks for nulls first; else it
    fails, and looks for the topic's path first."""
    reads_null_values: bool = True
    """AlterConfigs with a config without a value is answered; else, since ANY and GROUP are no
    resources any more, the connection is closed."""
    alters_brokers: bool = True
    """Brokers have configs that may be changed; else none, and what brokers set is a default of
    their topics."""
    looks_for_described_topics: bool = True
    """DescribeConfigs of a topic that is not there is UNKNOWN_TOPIC_OR_PARTITION; else it has the
    brokers' values."""
    keeps_unknown_resources: bool = True
    """Where a request about configs, or for partitions, is refused whole, each entry is answered as
    it was named; else each once, and a type of resources that is not known as 0."""
    forgets_other_resources: bool = True
    """Only what has configs is a known type of resource; else ANY (1) and GROUP (3) are, too."""
    has_patterns_of_rules: bool = True
    """Access rules have patterns of names (KIP-290); else names alone."""
    judges_vague_rules: bool = True
    """An access rule that names something unknown (0) closes the connection, and one for any (1)
    is judged; else it is the other way round, where there are patterns also for any resource."""
    fences_before_verifying: bool = True
    """Data of a transaction in an epoch before the producer's last one is INVALID_PRODUCER_EPOCH
    before its coordinator is asked; else when it is to be written."""
    begins_transactions_at_0: bool = True
    """A producer of the second generation that has written nothing in a partition begins with the
    sequence 0; else with any."""
    says_what_is_not_asked: bool = True
    """DescribeGroups has the least number for operations that are not asked for; else 0."""
    hides_mechanisms: bool = True
    """SaslHandshake where there is no SASL names no mechanisms; else those that are enabled."""
    judges_configs_late: bool = True
    """A controller with ZooKeeper judges the configs of a new topic after all else; else before its
    numbers and its name."""
    looks_for_topics_first: bool = True
    """A controller with ZooKeeper looks first whether a topic to be created is there, knows the
    brokers' default numbers (KIP-464), answers each entry of a request, and has INVALID_CONFIG for
    a value; else it judges the configs first, and has UNKNOWN_SERVER_ERROR for a value."""
    knows_missing_topics: bool = True
    """A broker with ZooKeeper has UNKNOWN_TOPIC_OR_PARTITION for configs of a topic that is not
    there; else INVALID_TOPIC_EXCEPTION for its name, and UNKNOWN_SERVER_ERROR."""
    refuses_disabled_deletion: bool = True
    """DeleteTopics where topics are not to be deleted is refused; else REQUEST_TIMED_OUT, and they
    stay."""
    stores_batches: bool = True
    """Messages are stored as batches of magic 2; else by themselves, in the newest format that the
    release has, and one without a time is as one of the time -1."""
    takes_formats_of_one_magic: bool = True
    """A broker with ZooKeeper starts if inter.broker.protocol.version has the format of messages of
    log.message.format.version; else only where it is not the older one of the two."""
    takes_null_configs: bool = True
    """CreateTopics with a config without a value is answered; else the connection is closed."""
    names_null_configs: bool = True
    """A controller with ZooKeeper has INVALID_REQUEST for configs of a new topic without a value;
    else UNKNOWN_SERVER_ERROR."""
    explains_unknown_lists: bool = True
    """Appending to an unknown broker config is INVALID_CONFIG; else UNKNOWN_SERVER_ERROR."""

    @property
    def has_zookeeper(self) -> bool:
        """Whether brokers can run with ZooKeeper: up to 3.9."""
        return int(self.name.partition(".")[0]) < 4

    @property
    def of_zookeeper(self) -> Literal["refused", "kept", "migrated"]:
        """What becomes of a log directory of a broker with ZooKeeper: those from 3.4 to 3.9 can
        migrate it to KRaft."""
        if not self.has_kraft:
            return "kept"
        can_migrate = self.features["metadata.version"][1] >= _MIGRATION_LEVEL
        return "migrated" if can_migrate and self.records_zookeeper_migration else "refused"

    @property
    def has_client_metrics(self) -> bool:
        """Whether clients can be asked for metrics, by resources with configs (KIP-714): since
        3.7."""
        return _TELEMETRY.keys() <= self.unadvertised.keys()

    @property
    def levels(self) -> Mapping[str, Range]:
        """The levels of features that the metadata log of a cluster can have. Without KRaft it has
        those of its first production release, so that any later one can open it."""
        return self.features if self.has_kraft else {"metadata.version": (1, 7)}

    def serves(self, api_key: int, version: int) -> bool:
        return version in self._served.get(api_key, ())

    @cached_property
    def _served(self) -> dict[int, range]:
        before = self.not_served_before
        return {
            key: range(max(first, before.get(key, 0)), last + 1)
            for key, (first, last) in {**self.unadvertised, **self.advertised}.items()
        }


def release_named(name: str) -> Release:
    """The release of a version, as people write it: "4.3", "3.9", "2.7.2" (or 3.9, a number).

    Raises ValueError for others, naming the nearest and those there are.
    """
    text = str(name)
    if text == KAFKA_4_3.name or text.startswith(f"{KAFKA_4_3.name}."):
        return KAFKA_4_3
    from ..releases.tables import find

    return _older(find(text))


def releases() -> list[Release]:
    from ..releases.tables import NAMES

    return [release_named(name) for name in NAMES]


@lru_cache(256)  # who asks for what is not there may ask for anything
def nearest_serving(name: str, api_key: int, version: int) -> Release | None:
    """The release next to one that serves a version of an API; None if none does."""
    known = releases()
    place = [each.name for each in known].index(name)
    near = sorted(range(len(known)), key=lambda at: abs(at - place))
    return next((known[at] for at in near if known[at].serves(api_key, version)), None)


@cache
def _older(name: str) -> Release:
    """A release of a table: where its capabilities are not those of 4.3, they are the others."""
    from ..releases.tables import numbers, older_capabilities, table

    found = table(name)
    other: dict[str, Any] = {
        capability: not getattr(KAFKA_4_3, capability) for capability in older_capabilities(name)
    }
    return Release(
        name,
        found.apis,
        not_served_before=KAFKA_4_3.not_served_before if numbers(name) >= (4, 0) else {},
        unadvertised=_TELEMETRY if numbers(name) >= _TELEMETRY_SINCE else {},
        features=found.features,
        features_epoch=found.features_epoch,
        **other,
    )


_VERSIONS_4_3: dict[int, Range] = {
    0: (0, 13),  # Produce
    1: (4, 18),  # Fetch
    2: (1, 11),  # ListOffsets
    3: (0, 13),  # Metadata
    8: (2, 10),  # OffsetCommit
    9: (1, 10),  # OffsetFetch
    10: (0, 6),  # FindCoordinator
    11: (0, 9),  # JoinGroup
    12: (0, 4),  # Heartbeat
    13: (0, 5),  # LeaveGroup
    14: (0, 5),  # SyncGroup
    15: (0, 6),  # DescribeGroups
    16: (0, 5),  # ListGroups
    17: (0, 1),  # SaslHandshake
    18: (0, 4),  # ApiVersions
    19: (2, 7),  # CreateTopics
    20: (1, 6),  # DeleteTopics
    21: (0, 2),  # DeleteRecords
    22: (0, 5),  # InitProducerId
    23: (2, 4),  # OffsetForLeaderEpoch
    24: (0, 5),  # AddPartitionsToTxn
    25: (0, 4),  # AddOffsetsToTxn
    26: (0, 5),  # EndTxn
    27: (1, 2),  # WriteTxnMarkers
    28: (0, 5),  # TxnOffsetCommit
    29: (1, 3),  # DescribeAcls
    30: (1, 3),  # CreateAcls
    31: (1, 3),  # DeleteAcls
    32: (1, 4),  # DescribeConfigs
    33: (0, 2),  # AlterConfigs
    34: (1, 2),  # AlterReplicaLogDirs
    35: (1, 5),  # DescribeLogDirs
    36: (0, 2),  # SaslAuthenticate
    37: (0, 3),  # CreatePartitions
    38: (1, 3),  # CreateDelegationToken
    39: (1, 2),  # RenewDelegationToken
    40: (1, 2),  # ExpireDelegationToken
    41: (1, 3),  # DescribeDelegationToken
    42: (0, 2),  # DeleteGroups
    43: (0, 2),  # ElectLeaders
    44: (0, 1),  # IncrementalAlterConfigs
    45: (0, 1),  # AlterPartitionReassignments
    46: (0, 0),  # ListPartitionReassignments
    47: (0, 0),  # OffsetDelete
    48: (0, 1),  # DescribeClientQuotas
    49: (0, 1),  # AlterClientQuotas
    50: (0, 0),  # DescribeUserScramCredentials
    51: (0, 0),  # AlterUserScramCredentials
    55: (0, 2),  # DescribeQuorum
    57: (0, 2),  # UpdateFeatures
    60: (0, 2),  # DescribeCluster
    61: (0, 0),  # DescribeProducers
    64: (0, 0),  # UnregisterBroker
    65: (0, 0),  # DescribeTransactions
    66: (0, 2),  # ListTransactions
    68: (0, 1),  # ConsumerGroupHeartbeat
    69: (0, 1),  # ConsumerGroupDescribe
    74: (0, 1),  # ListConfigResources
    75: (0, 0),  # DescribeTopicPartitions
    76: (1, 1),  # ShareGroupHeartbeat
    77: (1, 1),  # ShareGroupDescribe
    78: (1, 2),  # ShareFetch
    79: (1, 2),  # ShareAcknowledge
    80: (0, 1),  # AddRaftVoter
    81: (0, 0),  # RemoveRaftVoter
    83: (0, 0),  # InitializeShareGroupState
    84: (0, 0),  # ReadShareGroupState
    85: (0, 1),  # WriteShareGroupState
    86: (0, 0),  # DeleteShareGroupState
    87: (0, 1),  # ReadShareGroupStateSummary
    88: (0, 0),  # StreamsGroupHeartbeat
    89: (0, 0),  # StreamsGroupDescribe
    90: (0, 1),  # DescribeShareGroupOffsets
    91: (0, 0),  # AlterShareGroupOffsets
    92: (0, 0),  # DeleteShareGroupOffsets
}

KAFKA_4_3 = Release("4.3", _VERSIONS_4_3, not_served_before={0: 3})
