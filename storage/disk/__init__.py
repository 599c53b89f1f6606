"""Files: on a real disk, or on one in memory that a test can fill, break and power off."""
