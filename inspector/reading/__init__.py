"""Bytes to records to columns: decoding, reassembly, worker processes."""
