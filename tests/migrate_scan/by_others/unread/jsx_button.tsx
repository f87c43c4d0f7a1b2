export function Roll({ send }: Props) {
  return (
    <button title="don't" onClick={() => send({ type: 'ovos.persona.tools.dice.call', data: { name: 'roll', kwargs: { sides: 6 } } })}>
      It's a roll
    </button>
  );
}
