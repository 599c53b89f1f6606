"""Share groups (KIP-932): membership, assignments, and which partitions have a state."""
