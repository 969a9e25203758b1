"""What to expect of a release before anything is spent, rehearsed on public or simulated records."""
