"""What `odradek serve` is told by a file, by the environment and by options, and what follows."""
