"""Charts as static SVG with accessible text, from plain arrays of released numbers."""
