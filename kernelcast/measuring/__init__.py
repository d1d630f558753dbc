"""What the tools that time the validation workloads on real devices have in common."""
