"""Pages that show a release, from what was released alone."""
