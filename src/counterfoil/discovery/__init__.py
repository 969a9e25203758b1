"""A schema from noisy answers: what is asked of a curator, and what follows from the answers. No record is seen."""
