"""Short functions that build requests and record batches, for cases and drawn sequences."""
