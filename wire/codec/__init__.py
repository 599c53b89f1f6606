"""Functions that read and write one version of a message, made from the message's table."""
