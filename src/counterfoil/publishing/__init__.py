"""A release as a folder that explains itself, and what is made of its receipt for others."""
