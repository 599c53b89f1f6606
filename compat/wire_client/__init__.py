"""A client of any Kafka, this process's own broker too: what views, shell and tools ask with."""
