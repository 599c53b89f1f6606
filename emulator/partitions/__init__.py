"""Partitions of topics: their logs, the fetches that wait for them, the checks of produced
batches.
"""
