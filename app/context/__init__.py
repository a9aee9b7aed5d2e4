"""What a request or a question finds around it: services, the visitor, the run it names."""
