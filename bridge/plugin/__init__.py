"""The two protocols, discovery, the core framework and our own formats."""
