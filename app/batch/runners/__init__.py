"""Ways to compute a batch.  Spark is the product; the process pool is its yardstick and oracle."""
