def initialize(self):
    self.schedule_repeating_event(self._poll, None, 60, name="poll")
    self.bus.emit(Message("mycroft.scheduler.schedule_event",
                          {"event": "ovos.persona.tools.timer.call", "data": {"name": "tick"}}))
