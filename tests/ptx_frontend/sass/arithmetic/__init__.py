"""Tests of arithmetic in machine code."""
