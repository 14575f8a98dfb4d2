"""What is asked about a run beside it: audits of changes of sides, interviews, and marks of reviewers."""
