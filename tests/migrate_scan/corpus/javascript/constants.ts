const TOPICS = {
  BASE: "ovos.persona.tools",
};
const CALL: string = `${TOPICS.BASE}.wordnet.call`;

client.on(CALL, handle);
client.once(`${CALL}.response`, answer);
client.on("message", (m) => { if (m.type === "ovos.persona.tools.clock.call") clock(m); });
