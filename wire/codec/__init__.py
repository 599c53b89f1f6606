"""From the table of a message to functions that read and write one version of it."""
