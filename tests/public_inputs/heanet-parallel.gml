graph [
  Network "HEAnet"
  Layer "IP"
  label "Heanet"
  node [
    id 0
    label "Galway"
    y "149.0"
    x "100.0"
  ]
  node [
    id 1
    label "Limerick"
    y "149.0"
    x "100.0"
  ]
  node [
    id 2
    label "Cork"
    y "149.0"
    x "100.0"
  ]
  node [
    id 3
    label "CityWest"
    y "149.0"
    x "100.0"
  ]
  node [
    id 4
    label "DCU (Dublin City University"
    y "149.0"
    x "100.0"
  ]
  node [
    id 5
    label "TDC (Trinity College Dublin)"
    y "149.0"
    x "100.0"
  ]
  node [
    id 6
    label "Kilcarbery"
    y "149.0"
    x "100.0"
  ]
  edge [
    source 0
    target 3
    id "e0"
  ]
  edge [
    source 0
    target 6
    id "e1"
  ]
  edge [
    source 1
    target 2
    id "e2"
  ]
  edge [
    source 1
    target 3
    id "e3"
  ]
  edge [
    source 1
    target 6
    id "e4"
  ]
  edge [
    source 2
    target 3
    id "e5"
  ]
  edge [
    source 3
    target 4
    id "e6"
  ]
  edge [
    source 3
    target 5
    id "e7"
  ]
  edge [
    source 3
    target 5
    id "e8"
  ]
  edge [
    source 3
    target 6
    id "e9"
  ]
  edge [
    source 3
    target 6
    id "e10"
  ]
  edge [
    source 4
    target 6
    id "e11"
  ]
  edge [
    source 5
    target 6
    id "e12"
  ]
]
