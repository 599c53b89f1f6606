"""What brokers and consumers keep in records: internal topics, and the metadata log."""
