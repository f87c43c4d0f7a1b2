import sys
if sys.version_info < (3, 8):
    sys.exit("toolhost needs Python 3.8 or newer; %s is %d.%d.%d" % ((sys.executable,) + tuple(sys.version_info[:3])))
import os
size, source = int(sys.argv[1]), b""
while len(source) < size:
    piece = os.read(0, size - len(source))
    if not piece:
        sys.exit("toolhost: standard input ended before the runner was read")
    source += piece
if sys.path[:1] == [""]:
    del sys.path[0]  # A json.py where we stand must not hide Python's own.
runner = type(sys)("toolhost")
runner.__file__, runner.__source__ = "<toolhost>", source.decode()
sys.modules["toolhost"] = runner
exec(compile(source, "<toolhost>", "exec"), runner.__dict__)
runner.run_script(*sys.argv[2:])
