"""The paper's own protocol and the figures it prints."""
