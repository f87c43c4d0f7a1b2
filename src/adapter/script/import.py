import sys
if sys.path[:1] == [""]:
    del sys.path[0]  # A json.py where we stand must not hide Python's own.
sys.path.insert(0, sys.argv[1])
import toolhost
sys.path.remove(sys.argv[1])
toolhost.run_script(*sys.argv[2:])
