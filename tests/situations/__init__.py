"""What stock clients do in each situation (`kafka.situations`), found by running them.

`python -m tests.situations` runs every row (rows.py) with every client, three times each, and puts
the table into docs/situations.md. A row is one small application (apps/), with its client's own
defaults, in one situation; what it was told, what it has read and what the log then has is judged
(judging.py) and written as a cell (table.py).
"""
