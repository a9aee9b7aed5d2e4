"""Pages without a server: the questions and pages of a tab, answered in its own Web Worker."""
