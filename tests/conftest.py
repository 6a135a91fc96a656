"""Settings of all tests."""

from hypothesis import settings

# The machine decides how long an example takes; a test is about what it gives.
settings.register_profile("memtree", deadline=None)
settings.load_profile("memtree")
