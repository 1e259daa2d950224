"""The details: a page for each tab of a message (`panel.TABS`), one of a context, a participant, or what happened."""
