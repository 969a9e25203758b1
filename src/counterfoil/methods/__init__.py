"""From a curator to a release: the methods, one file each."""
