def ask(self, term):
    payload = json.dumps({
        "type": "ovos.persona.tools.wordnet.call",
        "context": "",
        "data": {
            "name": "define_word",
            "kwargs": {"word": term},
        }
    })
    ws = create_connection('ws://localhost:8181/core')
    ws.send(payload)
    ws.close()
