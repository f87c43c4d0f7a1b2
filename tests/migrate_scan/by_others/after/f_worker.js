self.onmessage = ({ data }) => {
  const { box, ...payload } = data;
  ws.send(JSON.stringify({ type: "ovos.persona.tools." + box + ".call", data: payload }));
};
const OLD = /^ovos\.persona\.tools\.(?!call$)[\w-]+\.call$/;
var t = "ovos.persona.tools.";
t = t + box + ".call";
bus.emit(t, {});
