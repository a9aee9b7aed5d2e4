"""The hunt: storms under the newest releases, and a verdict for each kind of broken promise."""
