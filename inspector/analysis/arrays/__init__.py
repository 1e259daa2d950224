"""Array structures that the passes share: unique values, rows by key, texts, ids by space."""
