"""The report card of a model on labelled data."""
