"""A broker under mixed load for hours: what it takes must stay level.

    python -m tests.soak --minutes 120 --seed 1 > soak.txt 2>&1 &

One broker in a process of its own; stock clients that come and go in another (load.py); and a
polite client that measures in a third (polite.py). Every minute a line says what the broker takes,
what it holds, and how long the polite client waited; at the end verdict.py judges the second half.
All of it takes about a third of a core.
"""
