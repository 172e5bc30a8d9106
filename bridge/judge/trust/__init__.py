"""How far a judge is believed: its agreement with people, its biases, and what follows."""
