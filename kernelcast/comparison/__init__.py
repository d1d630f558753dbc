"""Estimates of before and after beside each other, and budgets that a change must keep."""
