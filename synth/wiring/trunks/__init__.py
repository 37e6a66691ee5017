"""Lead links over trunks between panels."""
