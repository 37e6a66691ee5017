"""Tree schedules by ForestColl: packed spanning trees on any fabric."""
