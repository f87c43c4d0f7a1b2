export class ToolCaller {
  private static readonly NS = 'ovos.persona.tools';
  constructor(private readonly bus: Bus, private readonly id: string) {}

  async call(name: string, kwargs: Record<string, unknown>) {
    const topic = `${ToolCaller.NS}.${this.id}.call`;
    return this.bus.request({ type: topic, data: { name, kwargs } });
  }
}
