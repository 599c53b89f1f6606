"""Fuzzing: damaged requests for a running broker, and bytes of any kind for the wire package.

    python -m tests.fuzz --frames 1000000 --seed 7      at the socket (its options: --help)
    python -m tests.fuzz --frames 250000 --listener sasl_ssl     before a log-in (siege.py)
    python -m tests.fuzz --replay build/fuzz/FILE       what a run has found, once more
    python -m tests.fuzz.guided -max_total_time=60      guided by coverage, without sockets
    python -m tests.fuzz.wire -max_total_time=60        decoding only, guided by coverage

The last two need atheris (`pip install atheris`), which is wanted for nothing else.

At the socket, requests are drawn as they are for the comparison with a real Kafka
(tests/differential/draw), of every API and version, about topics, groups, members, producers and
sessions that exist. They are sent as they are, so that the broker has a state worth breaking, and
between them many more that were mutated (mutations.py, fields.py, batches.py), over several
connections at once. A polite client beside them checks every answer that it gets.

A run is divided into eras, each with a new broker and a seed of its own. At the end of each the
broker has to stop cleanly (every second one is killed), start again, know everything that the
polite client has written, and have a data directory with nothing wrong in it. What is a finding:
findings.py. How the connections take turns is chance, so a seed alone repeats a run only roughly;
the file of a finding repeats it step by step.
"""
