import { Bus } from './bus';

export class Tools {
  static readonly PREFIX = 'ovos.persona.tools.';
  static topic(id: string) { return Tools.PREFIX + id + '.call'; }
  ask(id: string, name: string, kwargs = {}) {
    this.bus.once(`${Tools.PREFIX}${id}.call.response`, (m) => this.done(m));
    this.bus.emit({ type: Tools.topic(id), data: { name, kwargs } });
  }
}
