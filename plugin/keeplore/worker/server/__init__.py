"""The worker's socket: what may be asked over it, and what is answered."""
