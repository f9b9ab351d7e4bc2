"""Labelled runs: simulated buildings or files, and the scores recorded over them."""
