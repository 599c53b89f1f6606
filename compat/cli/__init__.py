"""The `odradek` command: `serve`, `repair`, and the views of any broker (console/)."""
