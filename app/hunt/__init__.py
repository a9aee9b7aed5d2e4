"""The hunt: storms at scale, under the newest releases."""
