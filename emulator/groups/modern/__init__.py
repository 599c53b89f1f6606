"""What the types of group since KIP-848 have in common: consumer, share and streams groups."""
