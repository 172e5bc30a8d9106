"""Whether rows can be trusted: complete, unbroken, the same everywhere, by believed judges."""
