"""The common parts of the types of group since KIP-848: consumer, share and streams groups."""
