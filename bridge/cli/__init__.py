"""The command line: one file a command; only here is anything printed."""
