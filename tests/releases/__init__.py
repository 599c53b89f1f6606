"""The tables of releases: how they are made, and that they are what running brokers say."""
