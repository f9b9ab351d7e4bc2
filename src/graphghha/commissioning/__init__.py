"""Commissioning: a site's own normal days turn a base model into a model of that site. No torch."""
