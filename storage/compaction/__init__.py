"""Compaction: of each key only the newest record is kept, in the segments that take no more."""
