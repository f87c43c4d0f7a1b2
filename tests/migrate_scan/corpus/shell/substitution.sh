for box in a b; do
  r=$(ws "{\"type\":\"ovos.persona.tools.$box.call\",\"data\":{}}")
  case $topic in
    ovos.persona.tools.*.call) ;; # ovos.persona.tools.x.call
  esac
  [[ $topic == ovos.persona.tools.clock.call ]] && echo "ovos.persona.tools.clock.call seen"
done
