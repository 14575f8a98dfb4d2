"""JurisAgents: six roles, six stages and two instances predict the judgment of a criminal case."""
