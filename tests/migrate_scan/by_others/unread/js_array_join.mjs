const topic = ['ovos', 'persona', 'tools', process.argv[2], 'call'].join('.');
bus.send({ type: topic, data: { name: 'x', kwargs: {} } });
