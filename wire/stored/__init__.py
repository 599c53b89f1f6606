"""The records of brokers and consumers: internal topics, and the metadata log."""
