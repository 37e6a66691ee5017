# two hosts at a router
Creator "hand"
graph [
  directed 0
  name "pair"
  node [ id 10 label "a" type "host" graphics [ x 1.5 y 2 ] ]
  node [ id 11 label "b &#38; c" type "host" ]
  node [ id 12 label "r" type "router" ]
  edge [ source 10 target 12 speed 12.5 ]
  edge [ source 11 target 12 speed 25 ]
]
