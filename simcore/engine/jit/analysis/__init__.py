"""What the code generator must know of a kernel before it writes code.

Values that all lanes share, places where lanes wait, checks of bounds that can be shared. Imports
`isa`, `host`, and `engine.reference` for what may bypass barriers.
"""
