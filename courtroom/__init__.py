"""Watch and steer deliberations between language-model agents.

What a program that uses Courtroom needs, and all that the author of a procedure or of a kind of case needs, is found here:
`from courtroom import Courthouse, Procedure, Task, Answer`. The names stand in `__init__.pyi`. Each is loaded when it is
first asked for, so that `import courtroom` alone costs nothing.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
