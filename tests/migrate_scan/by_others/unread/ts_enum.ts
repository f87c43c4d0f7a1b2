export enum Topics {
  Discover = 'ovos.persona.tools.discover',
  Weather = 'ovos.persona.tools.weather.call',
}

export type CallTopic = `ovos.persona.tools.${string}.call`;

interface Frame<T> { type: string; data: T; context?: Record<string, unknown> }

export const frame: Frame<{ name: string; kwargs: object }> = {
  type: "ovos.persona.tools.weather.call",
  data: { name: "now", kwargs: {} },
};
