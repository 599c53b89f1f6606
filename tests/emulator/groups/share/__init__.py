"""Share groups, without a broker."""
