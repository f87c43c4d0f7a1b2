import toolhost


@toolhost.tool
def last_lines(file: str, count: int = 10):
    """The last lines of a text file.

    Args:
        file: The file.
        count: How many lines.
    """
    with open(file) as text:
        return {"lines": text.read().splitlines()[-count:]}


toolhost.serve()
