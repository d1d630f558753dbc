"""Traffic of a launch from a part of its thread blocks, with the error that this makes."""
