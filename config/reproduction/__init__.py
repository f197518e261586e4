"""Parts of config/reproduce.py."""
