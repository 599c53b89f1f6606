"""A broker in this process, without what a test says."""
