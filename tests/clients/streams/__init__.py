"""Kafka Streams, from Maven's archives, at three brokers."""
