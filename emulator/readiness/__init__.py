"""`timing="kafka"`: what a real node answers in its first seconds, after topics were created, and
between transactions.

Here everything is ready at once; a real broker first says that it is not, and takes longer.
figures.py has what was measured. kafka_timing.py is the step of the chain that holds requests to
it, and says what a topic or a coordinator is refused before it is ready; refusing.py makes the
answers.
Handlers know nothing of it; nor do verbs of a test, which do not pass the chain.
"""
