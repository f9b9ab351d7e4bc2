"""A frozen model on a frozen graph, as fast as the machine allows."""
