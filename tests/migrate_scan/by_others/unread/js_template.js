export function callTool(ws, toolboxId, name, kwargs) {
  const type = `ovos.persona.tools.${toolboxId}.call`;
  ws.send(JSON.stringify({ type, data: { name, kwargs }, context: {} }));
}

export const answerTopic = (id) => `ovos.persona.tools.${id}.call.response`;
