"""What executions and profilers recorded, as plain tables that know nothing of the rest."""
