"""A cluster under a manual clock, on a disk of its own; a client, and producers, on it."""

from tests.support.cluster_fixtures import client, cluster, disk, on_files, producer

__all__ = ["client", "cluster", "disk", "on_files", "producer"]
