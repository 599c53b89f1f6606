"""What a broker does unasked: retention, flushes, compaction, snapshots, expiry of producers."""
