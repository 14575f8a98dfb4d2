"""The room in which a run is watched: its record as plain data, and the player that draws it in a browser."""
