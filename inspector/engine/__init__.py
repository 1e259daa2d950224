"""The engine: opens documents and answers requests about them with plain data, in process or over a pipe."""
