"""The parts of an Emulator's public face, one idea a file; Emulator joins them."""
