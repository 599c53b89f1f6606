"""Odradek beside its peers, measured with the same client on the same data in the same run.

`python -m tests.bench` (`make bench`) starts Odradek, Apache Kafka and kfake, each as a process of
its own, measures them in turn, and prints one table with ratios. Nothing here is a test: figures
depend on the machine, so they are read by people, never asserted.
"""
