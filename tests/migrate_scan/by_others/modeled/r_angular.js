var sendMessage = function (message) {
  var data = '{"name": "search", "kwargs": {"q": "' + message.data + '"}}';
  var frame = '{"type": "ovos.persona.tools.wiki.call", "data": ' + data + '}';
  socket.send(frame);
  socket.send('{"type":"ovos.persona.tools.wiki.call","data":' + JSON.stringify({ name: 'x' }) + '}');
};
