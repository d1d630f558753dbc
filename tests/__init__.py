"""Tests. What several of them share is imported by its full name, `tests.simcore...`."""
