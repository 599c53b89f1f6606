"""Three nodes of a real Kafka and three brokers of the emulator are asked the same.

    python -m tests.differential --brokers 3 --seeds 40

Each request goes to a named broker. Between requests brokers are stopped, killed, paused and
started again. After each step that may change something, the engine waits until both clusters say
the same of leaders, replicas in sync, high watermarks and coordinators (views.py); if they do not
come to say the same, that is a difference like any other.

- clusters.py: the two clusters;
- engine.py: how a sequence is run on them, and how they are made whole again after it;
- cases/: sequences by hand, one or more for each item of docs/semantics/o-several-brokers.md;
- draw.py: sequences drawn from a seed.
"""
