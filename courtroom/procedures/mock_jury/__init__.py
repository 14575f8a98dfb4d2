"""A mock jury: lay people who hear a trial in summary talk and vote until they agree, or hang."""
