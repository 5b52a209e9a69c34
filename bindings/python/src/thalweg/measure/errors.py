"""The failures of measuring, and the exit codes of the commands."""

__all__ = ["MeasureError", "FINE", "DAMAGED", "USAGE", "IO_ERROR", "UNSAFE"]

FINE, DAMAGED, USAGE, IO_ERROR, UNSAFE = range(5)


class MeasureError(Exception):
    """A measurement, or the use of its records, failed; ``str()`` names the object, the value and the way out.

    Parameters
    ----------
    message : str
        One line for people.
    exit_code : int, default 3
        Exit code of the command: 1 damaged records, 2 an invalid argument, 3 input or output, 4 refused for safety.
    """

    def __init__(self, message, exit_code=IO_ERROR):
        super().__init__(message)
        self.exit_code = exit_code


def failed_call(action, path, error):
    """The MeasureError of an OSError: "cannot ACTION 'PATH': TEXT"."""
    return MeasureError(f"cannot {action} '{path}': {error.strerror or error}", IO_ERROR)
