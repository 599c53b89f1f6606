"""The releases of Kafka before the newest: a table each, made by running a broker of that release.

tables.py reads them. Nothing of this is imported for the newest release.
"""
