"""Accesses of machine code to memory."""
