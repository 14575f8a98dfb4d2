"""A film of a run, to take along: MP4 or GIF, drawn from the record."""

from courtroom.film.film import film, poster, scene_to_film
from courtroom.film.storyboard import LONGEST, SHORTEST, Shot, length, storyboard

__all__ = ["LONGEST", "SHORTEST", "Shot", "film", "length", "poster", "scene_to_film", "storyboard"]
