"""Tests of the front end of SASS."""
