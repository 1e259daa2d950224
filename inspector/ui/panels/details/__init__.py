"""The details of one message: Overview by kind, Tree, Raw, Related, Lifecycle."""
