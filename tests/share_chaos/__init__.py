"""Share consumers that are killed, paused and replaced while records are written: each record is
acknowledged by somebody, or archived at its limit of deliveries, and none is acknowledged twice.

    python -m tests.share_chaos --seconds 60            # the emulator
    python -m tests.share_chaos --seconds 60 --real     # a node of Apache Kafka

Eight members of one group, half of them Kafka's Java KafkaShareConsumer (ShareWorker.java) and half
confluent-kafka's ShareConsumer (worker.py), each in a process of its own, read four partitions.
Some records are poison: whoever gets one releases it. When all is over, verdict.py compares what
the members were told with what `__share_group_state` says of each record.
"""
