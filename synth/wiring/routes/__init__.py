"""Lead links over panels and trunks, pair by pair, so that as many pairs as possible stay."""
