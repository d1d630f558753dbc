"""Tests of accesses of memory as machine code."""
