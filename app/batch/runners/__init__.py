"""Ways to compute a batch: Spark for many runs, plain processes for few; and to count its rows."""
