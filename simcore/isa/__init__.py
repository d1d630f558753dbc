"""The instruction set: types, the opcode table and the intermediate representation."""
