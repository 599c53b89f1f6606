"""Topics and partitions, the fetches that wait for them, and the checks of produced batches."""
