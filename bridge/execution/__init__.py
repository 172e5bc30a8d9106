"""Asking the system, and one job in one framework: driven, recorded, resumed."""
