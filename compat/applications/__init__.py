"""Applications of other people's libraries and frameworks, each doing a small real job on a broker.

`python -m odradek.compat.applications [NAME ...]` runs them; `make applications` in a clone.

A folder here is an application: its sources, the file that its registry is asked with
(package.json, go.mod, requirements.txt, Cargo.toml, or the archives in application.toml), and
application.toml, which says how it is run and what its work must look like (application.py). All
have one job (job.py): orders come in, and for each there must be what the application makes of it,
while broker and application are killed. What could not be had is in unavailable.toml, with the
reason.

The folders are no packages: nothing of them is imported here.
"""
