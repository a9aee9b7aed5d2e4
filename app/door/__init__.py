"""What other people's Python gets: runs, comparisons and studies as plain objects."""
