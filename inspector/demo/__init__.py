"""Demo: an embedded loopback gateway (``gateway``) and scripted agents that talk through it (``script.Demo``)."""
