"""Facts of Kafka's own test-suite, checked against this engine through thin adapters."""
