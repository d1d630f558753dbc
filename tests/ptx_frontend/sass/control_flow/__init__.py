"""Control flow of machine code: lanes, barriers, branches and calls."""
