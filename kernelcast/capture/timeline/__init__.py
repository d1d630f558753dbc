"""When things happen on a GPU: streams, copies and launches of a program in time."""
