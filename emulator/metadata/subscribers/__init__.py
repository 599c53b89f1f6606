"""What lets a change of the metadata take effect: one module for each kind of object it reaches."""
