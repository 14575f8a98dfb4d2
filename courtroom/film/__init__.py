"""A film of a run, to take along: MP4 or GIF, drawn from the record."""

from courtroom.film.film import film, scene_to_film
from courtroom.film.picture import Painter
from courtroom.film.storyboard import MAX_FILM_S, MIN_FILM_S, Shot, length, storyboard

__all__ = ["MAX_FILM_S", "MIN_FILM_S", "Painter", "Shot", "film", "length", "scene_to_film", "storyboard"]
