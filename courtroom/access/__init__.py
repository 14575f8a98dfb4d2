"""Who may see and do what, where people sign in. Without sign-in there is one person, who may do everything."""
