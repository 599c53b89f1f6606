"""A small ZooKeeper beside the brokers, for releases that have one: off, and not imported, unless
asked for (docs/zookeeper.md)."""
