"""The overview of a document: cards in a grid."""
