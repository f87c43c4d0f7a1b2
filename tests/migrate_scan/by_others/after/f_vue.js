export default {
  data: () => ({ topic: 'ovos.persona.tools.lights.call' }),
  methods: {
    toggle(name) { this.$bus.emit(this.topic, { name, kwargs: {} }); },
    dim(level) {
      this.$bus.emit('ovos.persona.tools.lights.call', {
        name: 'dim',
        kwargs: { level },
      }, () => {});
    },
  },
  mounted() {
    this.$bus.$on('ovos.persona.tools.lights.call.response', this.done);
    ['call', 'discover'].forEach((x) => this.$bus.on(`ovos.persona.tools.${x}`, this.log));
  },
};
