"""The base of the whole emulator: clock, timers, deadlines, releases of Kafka, nodes, calls, and
the chain of steps that requests pass.
"""
