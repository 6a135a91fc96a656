"""Small, obviously right pure-Python models that the compiled code must agree with."""
