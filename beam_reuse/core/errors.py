"""What the user can put right: wrong settings, inputs, folders."""


class UserError(ValueError):
    """A mistake the user can correct. The message names the option, file or folder and the
    way out; the command ends with exit status 2 and no traceback."""
