"""The core: instruction set, engines, memory hierarchy, devices, profiles."""
