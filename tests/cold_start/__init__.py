"""What a broker answers in its first seconds, after changes, and between transactions, measured.

`python -m tests.cold_start` asks a real Kafka and the emulator with `timing="kafka"` the same, over
raw connections, and prints what each has answered: the table of docs/timing.md. `python -m
tests.cold_start clients` does it with stock clients. Nothing here is a test: what is counted
depends on the machine.
"""
