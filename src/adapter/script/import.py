import sys
if sys.version_info < (3, 8):
    sys.exit("toolhost needs Python 3.8 or newer; %s is %d.%d.%d" % ((sys.executable,) + tuple(sys.version_info[:3])))
if sys.path[:1] == [""]:
    del sys.path[0]  # A json.py where we stand must not hide Python's own.
sys.path.insert(0, sys.argv[1])
import toolhost
sys.path.remove(sys.argv[1])
toolhost.run_script(*sys.argv[2:])
