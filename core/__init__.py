"""Everything that decides: the evidence wing and the runs wing on one ground floor, standard library only."""
