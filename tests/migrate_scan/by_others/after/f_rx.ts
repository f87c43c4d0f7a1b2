import { filter, map } from 'rxjs';
const answers$ = frames$.pipe(
  filter((f) => f.type === `ovos.persona.tools.${box}.call.response`),
  map((f) => f.data.result),
);
const isCall = (t: string): t is `ovos.persona.tools.${string}` => t.startsWith('ovos.persona.tools.');
frames$.next({ type: "ovos.persona.tools.radio.call", data: { name: "play", kwargs: { id: 1 } } } satisfies Frame);
