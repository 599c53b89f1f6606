"""The subscribers by which a change of the metadata takes effect: one module for each kind of
object it reaches."""
