"""When tests take place."""

NOW = 1_600_000_000_000
"""Where the manual clock stands at first, in ms."""
