// asks ovos.persona.tools.wordnet.call
export const View = ({ send, id }) => (
  <p title="Don't">
    It's a word: <Button onClick={() => send({ type: `ovos.persona.tools.${id}.call`, data: { name: "w" } })} />
  </p>
);
const pattern = /^ovos\.persona\.tools\.[^.]+\.call$/;
