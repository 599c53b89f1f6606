"""The wheel and the sdist: built, looked into, and tried where nothing else is installed.

`python -m tests.package` (or `make package`) does all of it, into build/dist; the tests here do
what needs no network and takes seconds.
"""
