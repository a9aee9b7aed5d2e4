"""Studies: many runs of a scenario, their queue, their rows, and what is counted of them."""
