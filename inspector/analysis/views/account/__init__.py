"""The account of a log: calls, failures and open requests in figures."""
