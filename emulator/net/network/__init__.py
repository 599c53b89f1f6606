"""The network between clients and brokers, as a test makes it misbehave."""
