graph [
  Network "Abilene"
  Layer "IP"
  label "Abilene"
  node [
    id 0
    label "New York"
    Internal 1
  ]
  node [
    id 1
    label "Chicago"
    Internal 1
  ]
  node [
    id 2
    label "Washington DC"
    Internal 1
  ]
  node [
    id 3
    label "Seattle"
    Internal 1
  ]
  node [
    id 4
    label "Sunnyvale"
    Internal 1
  ]
  node [
    id 5
    label "Los Angeles"
    Internal 1
  ]
  node [
    id 6
    label "Denver"
    Internal 1
  ]
  node [
    id 7
    label "Kansas City"
    Internal 1
  ]
  node [
    id 8
    label "Houston"
    Internal 1
  ]
  node [
    id 9
    label "Atlanta"
    Internal 1
  ]
  node [
    id 10
    label "Indianapolis"
    Internal 1
  ]
  edge [
    source 0
    target 1
    LinkType "OC-192"
    LinkLabel "OC-192c"
    LinkNote "c"
  ]
  edge [
    source 0
    target 2
    LinkType "OC-192"
    LinkLabel "OC-192c"
    LinkNote "c"
  ]
  edge [
    source 1
    target 10
    LinkType "OC-192"
    LinkLabel "OC-192c"
    LinkNote "c"
  ]
  edge [
    source 2
    target 9
    LinkType "OC-192"
    LinkLabel "OC-192c"
    LinkNote "c"
  ]
  edge [
    source 3
    target 4
    LinkType "OC-192"
    LinkLabel "OC-192c"
    LinkNote "c"
  ]
  edge [
    source 3
    target 6
    LinkType "OC-192"
    LinkLabel "OC-192c"
    LinkNote "c"
  ]
  edge [
    source 4
    target 5
    LinkType "OC-192"
    LinkLabel "OC-192c"
    LinkNote "c"
  ]
  edge [
    source 4
    target 6
    LinkType "OC-192"
    LinkLabel "OC-192c"
    LinkNote "c"
  ]
  edge [
    source 5
    target 8
    LinkType "OC-192"
    LinkLabel "OC-192c"
    LinkNote "c"
  ]
  edge [
    source 6
    target 7
    LinkType "OC-192"
    LinkLabel "OC-192c"
    LinkNote "c"
  ]
  edge [
    source 7
    target 8
    LinkType "OC-192"
    LinkLabel "OC-192c"
    LinkNote "c"
  ]
  edge [
    source 7
    target 10
    LinkType "OC-192"
    LinkLabel "OC-192c"
    LinkNote "c"
  ]
  edge [
    source 8
    target 9
    LinkType "OC-192"
    LinkLabel "OC-192c"
    LinkNote "c"
  ]
  edge [
    source 9
    target 10
    LinkType "OC-192"
    LinkLabel "OC-192c"
    LinkNote "c"
  ]
]
