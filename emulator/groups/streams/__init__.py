"""Streams groups (KIP-1071): the broker knows an application's topology and assigns its tasks."""
