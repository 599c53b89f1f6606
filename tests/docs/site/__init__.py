"""The documentation as a site: `make site`, or `python -m tests.docs.site`, into build/site.

`sources.py` collects the pages of docs/ and what stands beside them, in the order of
docs/index.md; `reference.py` writes those of the command line and of the Python names;
`conf.py` is Sphinx's. Nothing that is generated is kept.
"""
