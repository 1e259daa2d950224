"""What window and command line say in words; no Qt."""
