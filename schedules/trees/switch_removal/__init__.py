"""Stage 2 of ForestColl: remove switches by edge splitting."""
