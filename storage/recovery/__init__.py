"""Opening a partition's directory: from files to segments, producers and leader epochs."""
