"""The rooms of each package: a file may import from its own and from those above it."""

# No Python file: the C extension.
NO_FILE = {"_scan"}

# The rooms of each package, and of folders that have rooms of their own: a file may import from its
# own room and from those above it. A file that stands in no room's list belongs to the room of its
# folder. `cluster` is what holds the emulator's rooms together, so all of them may name its type.
ROOMS = {
    "wire": """
        errors primitives on_demand checksum
        schema codec
        batch gzip_header compression api headers frames
        records scan walk _scan
        legacy
        stored
        explain __main__
    """,
    "storage": """
        disk
        naming naming_detection config notices checkpoints availability epochs damage batch_walk
            index producers segment flush retention lookup partition_directory reading
        recovery
        truncation
        compaction
        log log_directory stored_epochs image torn_tails log_0_7
        repairs
    """,
    "emulator": """
        releases
        base
        config
        environment
        division
        partitions
        metadata
        replication
        security
        maintenance
        broker
        share
        groups
        transactions
        handlers
        control
        guards
        readiness
        net
        parameters cluster
        snapshots
        zookeeper
        kafka_0_7
        embedded broker_thread
    """,
    "compat/applications": """
        application
        brokers processes
        install
        job
        results
        __main__ suites
    """,
    "compat/proxy": """
        client_end
        upstream
        connection
        proxy
    """,
    "compat/replay": """
        ids
        player
    """,
    "emulator/control": """
        refusals request_matcher request_metrics
        client_tracker
        traffic
        rules disk_rules
        replicated
    """,
    "emulator/control/traffic": """
        exchange
        traffic
        step
        jsonl capture
        files
        chosen
        journal sink
    """,
    "emulator/control/traffic/capture": """
        blocks
        packets
        writing reading
    """,
    "emulator/groups": """
        settings topics_view xxh3 regex old_records records group runtime
        offsets
        classic
        modern
        consumer
        share
        streams
        coordinator coordinators
    """,
    "emulator/share": """
        in_flight_batches state
        coordinators
        share_partition
        acquired_records
        share_partition_manager
        delayed_share_fetch
    """,
    "fixtures/schedules": """
        legal
        misfortune
        schedule horizon
        drawing shrinking
        exploring
    """,
    "compat/wire_client": """
        security blocking_connection
        clients segments record members
        waiting
        twins
        source
        reading
        moving
        produced decoding verbs transactions configuring
        topics
        span
        share_powers record_tail
        watching
        routes
        remote routed leading
        in_process
        seeds
    """,
    "fixtures/views": """
        matching
        exactly_once
        search
        in_order record_waits group_waits
        group_views
        asserting
        topics
        groups share_groups
        streams_groups
        processed_once
        processed_in_order
    """,
    "fixtures/kafka": """
        session fault_view occurrence
        composed client_configs broker_view
        network disk between_brokers
        rule_view rule_builder
        rule_book
        topics groups brokers clock waits event_log
        users acls quotas
        process snapshots services
        crash_points situations
        every_situation
        breakpoint lingering_clients
        verbs proxy
        emulator
    """,
    "emulator/snapshots": """
        archive images downtime
        snapshot
    """,
    "fixtures": """
        views repeating
        advice
        services schemas
        kafka
        schedules
        simulation
        control
        root options journals
        pages
        timeline
        rules
        remote
        brokers
        marker crashes unittest testcontainers hypothesis explore
        promises
        spark
        plugin
    """,
    "fixtures/simulation": """
        misfortunes
        handles leaving times databases loop clients calm wires service situations search
            befalling world kafka
        decorator
    """,
    "fixtures/services": """
        guard output zygote clients
        running forking
        watching supervision together
        feeder moments
        crash_points
    """,
    "fixtures/promises": """
        judging
        promise trials
        causes
        run
        report
        protocol
    """,
    "fixtures/control": """
        kit
        operation patterns problems
        shapes
        verbs
        security
        any_kafka
        clusters overview happened
        reading
        resources
        openapi metrics
        app
        server
        command
    """,
    "fixtures/explore": """
        turn
        mark progress
        reports
        runs
        protocol
    """,
    "fixtures/pages": """
        lanes
        failed
    """,
    "fixtures/remote": """
        emulator_only
        topics groups
        kafka
    """,
    "fixtures/spark": """
        rows checkpoint idle_clients retention waits
        comparing stream kafka_utils
        fixtures
    """,
    "compat": """
        unavailable http_server
        schemas
        wire_client
        java
        real_kafka
        applications
        clients
        scenarios
        proxy replay
        cli
        schema_registry
        spark
        demo table commands
    """,
    "compat/schemas": """
        registry
        avro protobuf remote
        reading
    """,
    "compat/schema_registry": """
        limits patterns
        formats
        errors subjects releases faults paths
        records
        store
        compatibility
        registry topic
        inside
        api
        server
        command console
    """,
    "compat/spark": """
        connector class_archive connect session __main__
        segments
        source
        pipeline
    """,
}
