"""What rules do: one kind of verb a file."""
