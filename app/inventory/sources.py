"""Plants and current wirings of options: files, or what a NetBox holds."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topoloom.app.files.local_files import read_plant_file, read_wiring_file
from topoloom.app.inventory.netbox_address import Address, NetBoxFailed, is_netbox

if TYPE_CHECKING:
    from topoloom.app.config import Settings
    from topoloom.app.inventory.netbox_rest import NetBox


def plant_of(source: str, settings: "Settings") -> dict[str, Any]:
    """Return the plant of a file or of ``netbox:URL``, as a request value.

    Raises:
        UnusableFile, NetBoxFailed: The file or the NetBox is unreadable, or holds no plant.
    """
    from topoloom.synth.errors import InvalidPlant
    from topoloom.synth.wiring.plant import plant_document, read_plant_values

    if not is_netbox(source):
        return read_plant_file(Path(source), settings)
    with netbox(source) as found:
        cabling = found.cabling()
    try:
        return plant_document(read_plant_values(cabling))
    except InvalidPlant as error:
        raise NetBoxFailed(f"{found.address.url}: {error}") from None


def wiring_of(source: str, settings: "Settings") -> list[Any] | dict[str, Any]:
    """Return the current wiring of a file or of ``netbox:URL``, as a request value.

    Raises:
        UnusableFile, NetBoxFailed: The file or the NetBox is unreadable.
    """
    if not is_netbox(source):
        return read_wiring_file(Path(source), settings)
    with netbox(source) as found:
        return dict(found.cabling())


@contextmanager
def netbox(source: str) -> "Iterator[NetBox]":
    """Open the NetBox of ``netbox:URL``.

    Raises:
        NetBoxFailed: The address or a variable is invalid.
        MissingExtra: The package for HTTP is not installed.
    """
    from topoloom.app.extras import require_extra

    require_extra("httpx2", "netbox")
    address = Address.of(source, os.environ)
    from topoloom.app.inventory.netbox_rest import open_netbox

    with open_netbox(address) as found:
        yield found
