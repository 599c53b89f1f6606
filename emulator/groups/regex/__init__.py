"""RE2's regular expressions, for subscriptions: their syntax and their matching."""
