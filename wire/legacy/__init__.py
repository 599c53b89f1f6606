"""Formats before 0.11: messages of magic 0 and 1, single or wrapped, and those of Kafka 0.7."""
