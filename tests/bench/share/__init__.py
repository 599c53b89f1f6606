"""The Java program of bench_share.py."""
