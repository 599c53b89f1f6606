"""The comparison: two brokers are asked the same, step by step, and their answers compared."""
