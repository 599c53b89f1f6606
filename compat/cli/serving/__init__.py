"""The settings of `odradek serve` (files, environment, options), and its start with them."""
