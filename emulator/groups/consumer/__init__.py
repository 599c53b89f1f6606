"""Consumer groups of the new protocol (KIP-848), and classic members in them."""
