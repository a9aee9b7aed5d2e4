"""Context of a request or question: services, the visitor, the run it names."""
