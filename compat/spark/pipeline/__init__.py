"""The commands over topics, data directories and files: load, export, diff, audit, profile, replay,
mirror. A small amount of data is handled with Arrow on this machine, more of it with Spark.
"""
