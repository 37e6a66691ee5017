"""Files of job traces for tests: Chakra's messages and JSON, and profiles of PyTorch.

The writer here shares no code with the package: it packs the fields of et_def.proto by hand.
"""

COMP, SEND, RECV, COLL = 4, 5, 6, 7
ALL_REDUCE, ALL_GATHER, BROADCAST, ALL_TO_ALL, REDUCE_SCATTER, BARRIER = 0, 2, 5, 6, 7, 9


def varint(value):
    """Return a number in groups of 7 bits, the lowest first."""
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def field(number, value):
    """Return a field of a message: a number, bytes, or text."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def attribute(name, value):
    """Return an attribute: int64_val, bool_val or string_val."""
    number = 27 if isinstance(value, bool) else 9 if isinstance(value, int) else 29
    return field(10, field(1, name) + field(number, int(value) if number != 29 else value))


def node(number, kind, after=(), micros=0, start=0, name="", ctrl=(), inputs="", **attributes):
    """Return a node as a mapping; `et` packs it."""
    return {
        "id": number,
        "name": name or f"n{number}",
        "type": kind,
        "after": list(after),
        "ctrl": list(ctrl),
        "micros": micros,
        "start": start,
        "inputs": inputs,
        "attributes": attributes,
    }


def et(nodes, **metadata):
    """Return the bytes of a trace."""
    about = field(1, "0.0.4") + b"".join(
        field(2, field(1, name) + field(29 if isinstance(one, str) else 9, one))
        for name, one in metadata.items()
    )
    messages = [about]
    for one in nodes:
        packed = field(1, one["id"]) + field(2, one["name"]) + field(3, one["type"])
        if one["ctrl"]:
            packed += field(4, b"".join(map(varint, one["ctrl"])))
        if one["after"]:
            packed += field(5, b"".join(map(varint, one["after"])))
        packed += field(6, one["start"]) + field(7, one["micros"])
        if one["inputs"]:
            packed += field(8, field(1, one["inputs"]))
        packed += b"".join(attribute(*pair) for pair in one["attributes"].items())
        messages.append(packed)
    return b"".join(varint(len(one)) + one for one in messages)


def compute(number, micros, after=(), **more):
    """Return a computation on an accelerator."""
    return node(number, COMP, after, micros, is_cpu_op=False, **more)


def collective(number, kind, size, after=(), group=None, **more):
    """Return a collective; without a group, of all ranks."""
    of = {} if group is None else {"pg_name": group}
    return node(number, COLL, after, comm_type=kind, comm_size=size, **of, **more)


def kernel(stream, start, length, name="gemm", **about):
    """Return a kernel of a profile; times in microseconds."""
    args = {"stream": stream, **about}
    return {"ph": "X", "cat": "kernel", "name": name, "ts": start, "dur": length, "args": args}


def nccl(stream, start, length, collective_name, elements, ranks, **about):
    """Return a kernel of NCCL."""
    args = {
        "Collective name": collective_name,
        "In msg nelems": elements,
        "Out msg nelems": elements,
        "Group size": len(ranks),
        "dtype": "Float",
        "Process Group Name": "0",
        "Process Group Ranks": str(list(ranks)),
    }
    return kernel(stream, start, length, "ncclDevKernel_Generic", **args, **about)
