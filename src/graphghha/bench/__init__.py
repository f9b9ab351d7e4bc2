"""One file per table or figure of the paper. Functions return the JSON that a command prints; none decides a test."""
