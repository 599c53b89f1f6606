"""What every other room stands on: the clock, timers, deadlines, releases of Kafka, addresses,
nodes.
"""
