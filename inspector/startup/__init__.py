"""From the command line to a command or a window."""
