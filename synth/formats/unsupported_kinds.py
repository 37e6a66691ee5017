"""Kinds of files that are recognized but not read as a topology: a row for each."""

from topoloom.synth.formats.unsupported import Foreign

_DUMP = "set NCCL_TOPO_DUMP_FILE=FILE for one run and give that file"
_NVIDIA = "give the output of nvidia-smi topo -m"
_AMD = "give the output of rocm-smi --showtopo --shownodesbw, or of amd-smi topology"
_MACHINE = "give the output of nvidia-smi topo -m or the file of NCCL_TOPO_DUMP_FILE"
_LINKS = "give an edge list, a line 'source target capacity' for each link"
_NETWORKX = "write GraphML or node-link JSON, for example with networkx"
_VERIFY = "check it by topoloom verify FILE --topology TOPOLOGY"
_SCHEDULE = "write MSCCL XML or MSCCL++ JSON from it and check that by topoloom verify"
BINARY = "binary data"
"""Description of a file that is no text."""
_PLANT = "give it as the plant: topoloom patch TOPOLOGY --plant FILE"


def _key(names: str) -> str:
    """Return the sign of JSON that has one of these keys."""
    return rf'(?s)\A[{{\[].*?"(?:{names})"\s*:'


FOREIGN: tuple[Foreign, ...] = tuple(
    Foreign(*row)
    for row in (
        # Text that is no text.
        ("PDF", r"\A%PDF-", "a PDF document", _LINKS),
        ("binary", "[\0-\x08\x0e-\x1a\x7f\ufffd]", BINARY, "give a text file in UTF-8"),
        # XML, by the root.
        (
            "NCCL graph file",
            r"\A<graphs\b",
            "an NCCL graph file (NCCL_GRAPH_DUMP_FILE), which holds the channels of NCCL",
            _DUMP,
        ),
        ("MSCCL XML", r"\A<algo\b", "a schedule, an MSCCL XML program", _VERIFY),
        ("nvidia-smi -q -x", r"\A<nvidia_smi_log\b", "the report of nvidia-smi -q -x", _NVIDIA),
        ("HTML", r"(?i)\A<(html|head|body|div|title)\b", "an HTML page", "save the raw file"),
        ("drawing", r"\A<(svg|mxfile|mxGraphModel)\b", "a drawing (SVG or draw.io)", _LINKS),
        # JSON, by its keys.
        (
            "schedule/1",
            r'\A\{(?s:.*?)"schema"\s*:\s*"schedule/',
            "a schedule, a schedule/1 document of Topoloom",
            _VERIFY,
        ),
        ("plant/1", r'"?schema"?\s*:\s*"?plant/', "a plant/1 document of Topoloom", _PLANT),
        (
            "Topoloom document",
            r'\A\{(?s:.*?)"schema"\s*:\s*"[a-z][a-z-]*/[0-9]',
            "another document of Topoloom",
            "give topology/1, as topoloom topology writes it",
        ),
        (
            "msccl-tools algorithm",
            _key("s?c?m?sccl_type"),
            "an algorithm of msccl-tools or TACCL",
            "write MSCCL XML by their ncclize and check that by topoloom verify",
        ),
        (
            "TACCL profile",
            _key("node_(?:betas|invbws)_list"),
            "a TACCL profile of a machine whose links only TACCL knows",
            "give a fabric by name, such as ndv2-1 or dgx-2, or a profile with links and betas",
        ),
        ("TE-CCL schedule", _key("1-Epoch_Duration"), "a schedule of TE-CCL", _SCHEDULE),
        (
            "MSCCL++ JSON",
            _key("threadblocks|input_chunks|inputChunks"),
            "a schedule, an MSCCL++ execution plan",
            _VERIFY,
        ),
        (
            "Chakra trace",
            _key("comm_type|ctrl_deps|data_deps|rf_id"),
            "an execution trace (Chakra or PyTorch)",
            "give the topology, and the trace to topoloom verify",
        ),
        ("profile", _key("traceEvents"), "the trace of a profiler", _MACHINE),
        (
            "ASTRA-sim JSON",
            _key("topology-name|topologies-per-dim|dimensions-count"),
            "a network of ASTRA-sim",
            "give the topology as a recipe, such as Product(UniRing(4), UniRing(8))",
        ),
        ("LLDP JSON", _key("lldp"), "the neighbors that lldpcli found", _LINKS),
        (
            "NetBox JSON",
            _key("[ab]_terminations|termination_[ab]_type"),
            "a list of cables from NetBox",
            _PLANT,
        ),
        (
            "containerlab JSON",
            _key("clab"),
            "the data that containerlab exports",
            "give the topology file of the lab, NAME.clab.yml",
        ),
        ("EC2 topology", _key("NetworkNodes"), "an EC2 instance topology", _LINKS),
        (
            "SONiC",
            _key("DEVICE_NEIGHBOR|DEVICE_METADATA|OCS_CROSS_CONNECT"),
            "a SONiC configuration",
            _LINKS,
        ),
        ("Kubernetes JSON", _key("apiVersion"), "a Kubernetes manifest", _LINKS),
        ("AMD JSON", _key(r"link_type|\(Topology\)[^\"]*"), "the JSON of AMD's tools", _AMD),
        ("Cytoscape", r'(?s)\A\{.*?"elements"\s*:\s*\{', "JSON of Cytoscape", _NETWORKX),
        ("adjacency JSON", _key("adjacency"), "adjacency JSON of networkx", _NETWORKX),
        # Machine descriptions.
        (
            "NCCL log with topology",
            r"NCCL INFO === System : maxBw",
            "a log of NCCL, whose lines '=== System' show the machine but are not read",
            _DUMP,
        ),
        (
            "RCCL log",
            r"(?m)^RCCL version\b|NCCL INFO[^\n]*(?:RCCL|librccl)",
            "a log of RCCL",
            _DUMP,
        ),
        ("NCCL log", r"NCCL (?:INFO|WARN|TRACE|VERSION)\b", "a log of NCCL", _DUMP),
        ("nccl-tests", r"(?m)^#\s+(?:nThread|out-of-place)\b", "a report of nccl-tests", _DUMP),
        (
            "NCCL tuner",
            r"\A(?:#[^\n]*\n)*(?:all|reduce|broadcast)\w*,[0-9]+,[0-9]+,",
            "a schedule, a table of NCCL's tuner plugin",
            _VERIFY,
        ),
        (
            "nvidia-smi topo -p2p",
            r"(?m)^[ \t]*GPU0[ \t]+X[ \t]+(?:OK|NS|CNS|GNS|TNS|DR|U)\b",
            "the table of nvidia-smi topo -p2p",
            _NVIDIA,
        ),
        ("nvidia-smi", r"(?m)^\| NVIDIA-SMI [0-9]", "the overview of nvidia-smi", _NVIDIA),
        ("nvidia-smi -q", r"=+NVSMI LOG=+", "the report of nvidia-smi -q", _NVIDIA),
        (
            "nvidia-smi list",
            r"(?m)^GPU [0-9]+: .*\(UUID: GPU-|\A(?:index|name|uuid|pci\.bus_id|timestamp), [a-z_.]",
            "a list of nvidia-smi (-L or --query-gpu)",
            _NVIDIA,
        ),
        (
            "rocm-smi",
            r"ROCm System Management Interface|(?m:^GPU\[[0-9]+\][ \t]*:)",
            "another report of rocm-smi",
            _AMD,
        ),
        ("amd-smi", r"AMD-SMI|(?m:^GPU: [0-9]+[ \t]*$)", "another report of amd-smi", _AMD),
        (
            "hwloc",
            r"(?m)^Machine \([0-9]|^[ \t]*(?:Package|NUMANode|PU) (?:P#[0-9]+ )?L#0",
            "the text of lstopo (hwloc)",
            "give its XML: lstopo --of xml",
        ),
        (
            "lspci",
            r"(?m)^(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7] [A-Z0-9][^:\n]*: ",
            "the output of lspci",
            _MACHINE,
        ),
        (
            "ibstat",
            r"(?m)^CA '[^'\n]+'$|^hca_id:|^\w+ port [0-9]+ ==> \w+ \(",
            "the output of ibstat, ibv_devinfo or ibdev2netdev",
            _MACHINE,
        ),
        ("numactl", r"(?m)^node distances:", "the output of numactl -H", _MACHINE),
        # Networks and clusters.
        (
            "iblinkinfo",
            r"==\( *(?:[0-9]+X|Down|Disabled)[^\n]*\)==>",
            "the output of iblinkinfo",
            _LINKS,
        ),
        (
            "opensm subnet list",
            r"(?m)^\{ *(?:CA|SW|RT)[^\n]*(?:SystemGUID|PortGUID):",
            "a list of links from opensm or ibdiagnet",
            _LINKS,
        ),
        (
            "LLDP",
            r"(?m)^LLDP neighbors:|^Interface:\s+\S+, via: LLDP|^LocalPort\s+RemoteDevice",
            "a table of LLDP neighbors",
            _LINKS,
        ),
        (
            "Slurm configuration",
            r"(?m)^(?:NodeName|PartitionName|ClusterName|SlurmctldHost)=",
            "a configuration of Slurm",
            "give topology.conf, lines SwitchName=... Nodes=... or Switches=...",
        ),
        (
            "ASTRA-sim",
            r"(?m)^(?:topology|npus_count|npus-count):\s*\[",
            "a network of ASTRA-sim",
            "give the topology as a recipe, such as Product(UniRing(4), UniRing(8))",
        ),
        (
            "htsim topology",
            r"(?mi)^Nodes [0-9]+\s*\nTiers [0-9]+\s*$",
            "a fat tree of htsim",
            "give the fat tree by name, such as fat-tree-4",
        ),
        ("GOAL", r"(?m)^num_ranks [0-9]+\s*$", "a schedule, a GOAL file of LogGOPSim", _VERIFY),
        ("Kubernetes", r"(?m)^apiVersion:\s*\S", "a Kubernetes manifest", _LINKS),
        ("Docker Compose", r"(?m)^services:\s*$", "a file of Docker Compose", _LINKS),
        (
            "ns-3 topology",
            r"(?m)^[0-9]+ [0-9]+ [0-9.]+[GMK]?bps [0-9.]+[num]?s\b",
            "a topology of the HPCC or ASTRA-sim simulators of ns-3",
            _LINKS,
        ),
        (
            "NetBox CSV",
            r"(?i)\A(?=[^\n]*,)[^\n]*(?:termination_[ab]_|side_[ab]_|Termination [AB]|Side [AB]\b)",
            "a table of cables from NetBox",
            _PLANT,
        ),
        # Graphs in formats that networkx or others convert.
        ("Pajek", r"(?im)\A\*(?:vertices|network)\b", "a Pajek graph", _NETWORKX),
        ("DIMACS", r"(?m)^p (?:edge|col|sp|max|min) [0-9]+ [0-9]+\s*$", "DIMACS", _NETWORKX),
        ("GDF", r"(?i)\Anodedef>", "a GDF graph", _NETWORKX),
        (
            "TGF",
            r"\A(?:[^#\n][^\n]*\n)+#[ \t]*\n(?:[^#\n][^\n]*(?:\n|\Z))+\Z",
            "a graph in Trivial Graph Format",
            "write GraphML, or name the format as edgelist if # is a comment",
        ),
        ("LEDA", r"\ALEDA\.GRAPH\b", "a LEDA graph", _NETWORKX),
        ("program", r"\A#!|(?m:^import \w[\w.]*$|^from \w[\w.]* import )", "a program", _LINKS),
    )
)
"""Kinds of files with a sign of their own; the first that matches counts."""

LOOSE: tuple[Foreign, ...] = tuple(
    Foreign(*row)
    for row in (
        ("XML", r"\A<[A-Za-z!?]", "XML of an unknown kind", _NETWORKX),
        (
            "JSON object",
            r"\A\{(?![{%#])",
            "JSON without nodes and links",
            "give topology/1 or node-link JSON",
        ),
        (
            "JSON list",
            r"\A\[\s*(?:[\[{\"\]0-9-]|\Z)",
            "a JSON list",
            "give topology/1 or node-link JSON",
        ),
        ("log", r"(?m)^\[?[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}", "a log", _LINKS),
        (
            "key = value",
            r"\A(?:[ \t]*(?:[#;\[][^\n]*)?\n)*[ \t]*(?:export )?[A-Za-z][\w.-]*[ \t]*=(?!=)",
            "a configuration of lines 'key = value'",
            _LINKS,
        ),
        (
            "YAML",
            r"(?m)\A(?:---|%YAML)|^[ \t]*(?:- )?[A-Za-z][\w./-]*:(?: [^\n]*)?\n"
            r"[ \t]*(?:- )?[\w./-]+:(?:\s|$)",
            "YAML",
            _LINKS,
        ),
        (
            "CSV with a heading",
            r"\A[A-Za-z_]\w*(?: \w+){0,2}(?:[,;\t][A-Za-z_]\w*(?: \w+){0,2})+[ \t]*\n",
            "a table with a heading of its own",
            "name its columns source,target,capacity",
        ),
    )
)
"""Kinds of files that are detected only where no other kind fits."""
