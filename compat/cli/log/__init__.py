"""The log of `odradek serve` and `odradek proxy`: which events make a line."""
