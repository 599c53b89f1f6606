"""Background work: retention, flushes, compaction, snapshots, expiry of producers."""
