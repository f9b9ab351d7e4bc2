"""The paper's protocol, its baselines and training, and the figures it prints."""
