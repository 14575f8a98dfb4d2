from courtroom.case import Strict


class Persona(Strict):
    name: str
