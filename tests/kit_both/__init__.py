"""Tests that a user of the kit may write: they pass on an emulator and on a real Kafka unchanged.

A client takes a topic's name from its view, since it is another one there. What names a verb that
only an emulator has is skipped on a real Kafka, and stands in test_emulator_only.py.
"""
