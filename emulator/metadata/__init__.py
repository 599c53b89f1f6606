"""The metadata of the cluster: its log, what that log says, and the topics made of it."""
