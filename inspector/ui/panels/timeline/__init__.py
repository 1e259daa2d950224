"""The timeline: who said what when, with the contexts it was said in."""
