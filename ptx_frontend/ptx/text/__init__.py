"""PTX text to a syntax tree: `lexer`, the parsers, `syntax`.

Every token has a span, so that errors show file, line and column. Imports nothing of simcore but
source spans.
"""
