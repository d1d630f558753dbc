"""Tests of the flow of control and of clusters as machine code."""
