"""An incident as one HTML page that needs nothing but itself, to print or to hand to a contractor."""

from graphghha.monitor.page.incident_page import incident_page

__all__ = ["incident_page"]
