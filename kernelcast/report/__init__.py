"""Results as text, records and pictures. Reports compute nothing and print nothing."""
