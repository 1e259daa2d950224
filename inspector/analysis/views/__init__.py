"""Answers computed from the passes on demand; passes import no view."""
