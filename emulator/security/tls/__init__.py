"""TLS: contexts from Kafka's configs, certificates for tests, and the principals of clients."""
