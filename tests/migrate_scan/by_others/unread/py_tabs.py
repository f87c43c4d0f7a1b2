class A:
	def f(self):
		if True:
			self.bus.emit(Message("ovos.persona.tools.tabby.call", {"name": "x", "kwargs": {}}))
