"""Whose each thing is, who sees and changes it, links that open it for a time, and who did what."""
