"""Several brokers: which run, who leads, which replicas are in sync, and what follows."""
