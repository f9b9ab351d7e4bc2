"""From a plant's testbed to a trained detector. Needs torch."""
