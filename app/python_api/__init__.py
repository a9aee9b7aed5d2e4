"""Python API: runs, comparisons and studies as plain objects."""
