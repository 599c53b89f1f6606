"""One module per API, named as that of its messages in wire.api; each registers its handler."""
