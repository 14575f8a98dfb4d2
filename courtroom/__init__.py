"""Watch and steer deliberations between language-model agents."""
