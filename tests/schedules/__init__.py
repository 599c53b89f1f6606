"""A consume-transform-produce loop of each stock client under schedules of misfortunes.

`python -m tests.schedules --client java --seeds 500` runs the loop that is correct: exactly once,
whatever happens. `--variant` takes one that is broken, and tells the seed that catches it.

- `pipes/`: the same few steps with each client; `loop`: what is done with them, right or wrong;
- `run`: one run at a broker, judged; `__main__`: many of them.
"""
