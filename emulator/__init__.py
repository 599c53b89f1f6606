"""A Kafka broker in this process."""
