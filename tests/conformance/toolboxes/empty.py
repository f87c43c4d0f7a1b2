"""A toolbox without a tool."""

from serve import serve


def tools():
    return []


if __name__ == "__main__":
    serve(tools)
