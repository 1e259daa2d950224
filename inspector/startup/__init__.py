"""Start of the program: from the command line to a command or a window."""
