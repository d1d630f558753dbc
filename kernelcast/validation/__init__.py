"""Predicted against measured: suites of kernels, error statistics, explained outliers.

Every comparison ends in `report`; `baseline` alarms when errors move (docs/validation.md). Imports
everything but the command line.
"""
