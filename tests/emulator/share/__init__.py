"""Share partitions and the share coordinator, without sockets."""
