"""One request and its reply: sent, paced, read, cached, accounted for, with no key left in it."""
