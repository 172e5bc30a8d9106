"""Suites as pytest items. pytest loads ``hooks`` as a plug-in; it imports next to nothing."""
