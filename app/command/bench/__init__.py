"""What should stay fast, measured as ratios of two things in the same place."""
