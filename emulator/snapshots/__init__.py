"""The state of a broker, taken at one moment: kept, put back, saved to a file, opened elsewhere."""
