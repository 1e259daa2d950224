"""Details panel: pages for a message (tabs of `panel.TABS`), a context, a participant, and What happened."""
