"""A million records exported and imported by the shell, with interruptions."""
