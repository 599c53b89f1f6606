"""The rooms of each package: a file may import from its own and from those above it."""

# No Python file: the C extension.
NO_FILE = {"_scan"}

# The rooms of each package, and of folders that have rooms of their own: a file may import from its
# own room and from those above it. A file that stands in no room's list belongs to the room of its
# folder. `cluster` is what holds the emulator's rooms together, so all of them may name its type.
ROOMS = {
    "wire": """
        errors primitives
        schema codec
        batch gzip_header compression api headers frames
        records scan _scan
        legacy
        stored
        explain __main__
    """,
    "storage": """
        disk
        naming naming_detection config notices checkpoints availability epochs damage batch_walk
            index producers segment flush retention rolling lookup partition_directory reading
        recovery
        truncation
        compaction
        log log_directory stored_epochs image
        repairs
    """,
    "emulator": """
        base
        config
        partitions
        metadata
        security
        upkeep
        groups
        transactions
        handlers
        control
        net
        parameters broker cluster
        advice
        seen
        state
        facets
        emulator broker_thread breakpoint left_open
        cli
    """,
    "emulator/groups": """
        settings topics_view xxh3 regex commit_request records group shard telling runtime
        offsets
        classic
        consumer
        coordinator offsets_topic coordinators
    """,
    "emulator/seen": """
        clients segments record members
        matching waiting
        source
        reading produced decoding verbs transactions
        exactly_once
        span
        search
        in_order record_waits group_waits
        asserting
        topics
        groups
        watching
        inside
        directories
        seeds
    """,
    "emulator/state": """
        errors
        images
        archive placing ahead exchange
        snapshot
    """,
    "fixtures": """
        root options
        timeline
        remote
        brokers
        marker unittest testcontainers
        plugin
    """,
    "fixtures/remote": """
        connection emulator_only routes
        cluster
        kafka
    """,
    "compat": """
        unavailable
        java
        real_kafka
        clients
        scenarios
        spark
        demo table
    """,
}
