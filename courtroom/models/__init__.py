"""Who answers: tasks, prompts, models."""
