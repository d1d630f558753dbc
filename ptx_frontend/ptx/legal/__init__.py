"""What PTX has: types, modifiers, orders and scopes, compared with ptxas in the tests.

The opcode table executes more than PTX can say; these modules refuse the rest. Imports the tables
of `simcore.isa`.
"""
