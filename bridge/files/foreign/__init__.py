"""Files of other people: any encoding, table or JSON, read within bounds."""
