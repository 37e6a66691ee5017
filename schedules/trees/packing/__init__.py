"""Stage 3 of ForestColl: pack spanning trees in a network without switches."""
