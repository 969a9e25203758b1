"""What does not fit in memory, on disk for a while, where temporary files go: never beside anybody's files."""
