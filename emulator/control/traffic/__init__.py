"""The journal of requests and answers, for tests and for what looks at a broker from outside.

Its name for users is `journal`. In the source it is `traffic`, because `cluster.journal`
(base/journal.py) keeps something else: the events of the timeline, in sentences.

    exchange.py   one request, what became of it, its connection, the topics it names
    traffic.py    the last of them, bounded
    step.py       how the emulator's chain fills it
    jsonl.py      a message as JSON
    chosen.py     some of them: what `of` returns, and its `save`
    journal.py    `kafka.journal` itself
    jsonl.py, capture/   the files; files.py finds the right one
    sink.py       a file that is written while the broker runs
"""
