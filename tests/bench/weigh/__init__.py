"""What Odradek weighs, beside another commit: `python -m tests.bench.weigh` (`make weigh`)."""
