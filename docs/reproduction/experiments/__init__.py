"""Parts of docs/reproduction/reproduce.py."""
