"""A broker of Kafka 0.7, by itself, as nothing of it is as it was in 0.8 (docs/kafka-0.7.md)."""

from .broker import Kafka07 as Kafka07

__all__ = ["Kafka07"]
