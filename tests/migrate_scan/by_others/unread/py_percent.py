PATTERN = 'ovos.persona.tools.%s.call'


def one(bus, tid):
    bus.emit(Message(PATTERN % tid, {'name': 'x', 'kwargs': {}}))


def two(bus, tid):
    bus.emit(Message('ovos.persona.tools.%s.%s' % (tid, 'call'), {'name': 'x', 'kwargs': {}}))


def three(bus):
    bus.emit(Message('%s.%s.call' % ('ovos.persona.tools', 'lights'), {'name': 'on', 'kwargs': {}}))
