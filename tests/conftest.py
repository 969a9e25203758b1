"""What holds for all tests."""

from hypothesis import settings

# Tests never depend on the clock: an example may take longer on a busy machine, or where it compiles something.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
