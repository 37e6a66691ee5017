"""Real NETCONF servers for tests: Debian's netconfd behind a private sshd, one for each panel."""

import getpass
import os
import pwd
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.ports import held_port

YANG = Path(__file__).parent / "optical-switch.yang"
SUBSYSTEM = "/usr/sbin/netconf-subsystem"


def why_missing() -> str | None:
    """Return why no server can be started here; None if one can."""
    for program in ("netconfd", "/usr/sbin/sshd", SUBSYSTEM, "ssh-keygen"):
        if shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin") is None:
            return f"{program} is not installed (Debian: netconfd, openssh-server)"
    return None


@dataclass(frozen=True)
class Server:
    """A running server, and the files that a client logs in with."""

    port: int
    folder: Path

    def session(self) -> Any:
        """Return a session that holds no lock: what people look with."""
        from ncclient import manager  # pyright: ignore[reportMissingImports]

        return manager.connect_ssh(
            "127.0.0.1",
            port=self.port,
            username=getpass.getuser(),
            key_filename=str(self.folder / "user"),
            hostkey_verify=False,
            allow_agent=False,
            look_for_keys=False,
            timeout=30,
        )

    @property
    def environment(self) -> dict[str, str]:
        """The variables that tell `topoloom patch apply` how to log in."""
        return {
            "NETCONF_USERNAME": getpass.getuser(),
            "NETCONF_KEY_FILE": str(self.folder / "user"),
            "NETCONF_KNOWN_HOSTS": str(self.folder / "known_hosts"),
        }


@contextmanager
def running(folder: Path, count: int) -> Iterator[list[Server]]:
    """Start so many servers, with one user and one file of known hosts."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("host", "user"):
        make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(make, check=True)
    (folder / "authorized").write_text((folder / "user.pub").read_text())
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    # Each netconfd makes this folder, wherever $HOME is, and gives up if another was quicker.
    Path(pwd.getpwuid(os.getuid()).pw_dir, ".yuma").mkdir(mode=0o700, exist_ok=True)
    host_key = " ".join((folder / "host.pub").read_text().split()[:2])
    processes: list[subprocess.Popen[bytes]] = []
    ports = ExitStack()
    try:
        servers = []
        for number in range(count):
            port = ports.enter_context(held_port())
            with (folder / "known_hosts").open("a") as known:
                known.write(f"[127.0.0.1]:{port} {host_key}\n")
            processes += _start(folder, number, port)
            servers.append(Server(port, folder))
        for number, server in enumerate(servers):
            _wait(folder, number, server.port)
        yield servers
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(100)
        ports.close()


def _start(folder: Path, number: int, port: int) -> list[subprocess.Popen[bytes]]:
    # Paths of sockets are short: a folder of pytest's may not fit.
    pipe = f"/tmp/topoloom-netconf-{os.getpid()}-{port}.sock"
    config = folder / f"sshd-{number}"
    config.write_text(
        f"ListenAddress 127.0.0.1\nPort {port}\nHostKey {folder / 'host'}\n"
        f"AuthorizedKeysFile {folder / 'authorized'}\nPidFile none\nStrictModes no\nUsePAM no\n"
        "PasswordAuthentication no\nPermitRootLogin yes\n"
        f'Subsystem netconf "{SUBSYSTEM} --ncxserver-sockname={port}@{pipe}"\n'
    )
    commands = (
        [
            shutil.which("netconfd", path=f"{os.environ['PATH']}:/usr/sbin") or "netconfd",
            f"--module={YANG}", "--target=candidate", "--no-startup", "--with-startup=true",
            "--log-level=error",
            f"--superuser={getpass.getuser()}", f"--port={port}", f"--ncxserver-sockname={pipe}",
        ],
        ["/usr/sbin/sshd", "-D", "-e", "-f", str(config)],
    )  # fmt: skip
    # netconfd keeps what it goes back to in its folder.
    home = folder / f"home-{number}"
    home.mkdir()
    started = []
    for name, command in zip(("netconfd", "sshd"), commands, strict=True):
        with (folder / f"{name}-{number}.log").open("wb") as log:
            started.append(
                subprocess.Popen(
                    command,
                    cwd=home,
                    env={**os.environ, "HOME": str(home)},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )
            )
    return started


def _wait(folder: Path, number: int, port: int) -> None:
    pipe = Path(f"/tmp/topoloom-netconf-{os.getpid()}-{port}.sock")
    end = time.monotonic() + 100
    while time.monotonic() < end:
        if pipe.exists():
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", port)) == 0:
                    return
        time.sleep(0.05)
    logs = "".join((folder / f"{n}-{number}.log").read_text() for n in ("netconfd", "sshd"))
    raise RuntimeError(f"no NETCONF server within 20 s:\n{logs}")
