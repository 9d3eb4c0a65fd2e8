"""One module for each command: its arguments, a call into core, and an exit code."""
