"""What the Python API and the command line choose when nobody says otherwise."""

__all__ = ["DEFAULT_MODEL"]

DEFAULT_MODEL = "quantitative-roofline"
