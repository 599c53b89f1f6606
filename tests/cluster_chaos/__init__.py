"""Stock clients at three brokers that are stopped and killed one after the other: what they were
told is written stays, once, and transactions are whole.

    python -m tests.cluster_chaos --seconds 60            # the emulator
    python -m tests.cluster_chaos --seconds 60 --real     # three nodes of Apache Kafka

Each client runs in a process of its own (worker.py), with a producer that is not idempotent, one
that is, one with transactions (senders.py), and a member of a group that reads what the second
writes. acks=all, min.insync.replicas=2. verdict.py reads what the topics hold then, and judges.
"""
