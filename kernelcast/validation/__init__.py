"""Predicted against measured: suites of kernels, error statistics, explained outliers."""
