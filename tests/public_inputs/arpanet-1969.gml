graph [
  DateObtained "25/01/11"
  Network "ARPANET"
  Type "REN"
  label "Arpanet196912"
  Creator "Topology Zoo Toolset"
  node [
    id 0
    label "SRI"
    Longitude -122.18219
    Internal 1
    Latitude 37.45383
  ]
  node [
    id 1
    label "USCB"
    Internal 1
  ]
  node [
    id 2
    label "UCLA"
    Internal 1
  ]
  node [
    id 3
    label "UTAH"
    Internal 1
  ]
  edge [
    source 0
    target 1
    id "e0"
  ]
  edge [
    source 0
    target 2
    id "e1"
  ]
  edge [
    source 0
    target 3
    id "e2"
  ]
  edge [
    source 1
    target 2
    id "e3"
  ]
]
