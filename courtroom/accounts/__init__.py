"""Who has signed in here, what each may do, and how much each may spend."""
