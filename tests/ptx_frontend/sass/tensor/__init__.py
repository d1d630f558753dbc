"""Tests of products, of moves of matrices and of what belongs to them, as machine code."""
