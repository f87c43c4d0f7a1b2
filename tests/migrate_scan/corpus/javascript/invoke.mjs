const kwargs = { word: "tool" };
await ask({ type: "ovos.tools.invoke", data: { name: "define_word", kwargs } });
await ask({ type: "ovos.tools.invoke", data: { name: "define_word", args: kwargs } });
