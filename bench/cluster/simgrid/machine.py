# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A platform file for SimGrid: nodes of devices, links within a node, a network between nodes.

A device is a host of 1 Gflop/s, so that `compute 1000` takes a microsecond. All is slower by
STRETCH, since SimGrid prints whole microseconds. A device has a link to its node's switch; a node has one link to the network, as wide as the ports of all its
devices, where one message gets no more than one port.
"""

from __future__ import annotations

from dataclasses import dataclass

STRETCH = 1000
HEAD = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
 <zone id="world" routing="Floyd">
"""


@dataclass(frozen=True)
class Machine:
    """The numbers of the links: latency of a message [s], bandwidth of a device's port [bytes/s]."""

    nodes: int
    per_node: int
    node_latency_s: float
    node_bandwidth: float
    network_latency_s: float
    network_bandwidth: float

    @property
    def hosts(self) -> list[str]:
        """Names of the devices, node after node."""
        return [
            f"node{node}gpu{device}"
            for node in range(self.nodes)
            for device in range(self.per_node)
        ]


def zone(machine: Machine, node: int) -> str:
    """A node: a message takes two links, its sender's and its receiver's."""
    return (
        f'  <cluster id="node{node}" prefix="node{node}gpu" suffix="" '
        f'radical="0-{machine.per_node - 1}" speed="{1 / STRETCH:g}Gf" '
        f'bw="{machine.node_bandwidth / STRETCH:.6g}Bps" lat="{machine.node_latency_s / 2 * STRETCH:.6g}s" '
        f'sharing_policy="SPLITDUPLEX" router_id="node{node}switch"/>\n'
    )


def to_xml(machine: Machine) -> str:
    """The file's text."""
    text = HEAD + "".join(zone(machine, node) for node in range(machine.nodes))
    if machine.nodes > 1:
        text += '  <zone id="network" routing="Full"><router id="spine"/></zone>\n'
        beyond = max(machine.network_latency_s - machine.node_latency_s, 0) / 2
        beyond *= STRETCH
        port = machine.network_bandwidth / STRETCH
        for node in range(machine.nodes):
            text += (
                f'  <link id="up{node}" bandwidth="{port * machine.per_node:.6g}Bps" '
                f'latency="{beyond:.6g}s" sharing_policy="SPLITDUPLEX"/>\n'
                f'  <link id="port{node}" latency="0s" sharing_policy="FATPIPE" '
                f'bandwidth="{port:.6g}Bps"/>\n'
            )
        for node in range(machine.nodes):
            text += (
                f'  <zoneRoute src="node{node}" dst="network" gw_src="node{node}switch" '
                f'gw_dst="spine" symmetrical="NO"><link_ctn id="up{node}" direction="UP"/>'
                f'<link_ctn id="port{node}"/></zoneRoute>\n'
                f'  <zoneRoute src="network" dst="node{node}" gw_src="spine" '
                f'gw_dst="node{node}switch" symmetrical="NO"><link_ctn id="up{node}" '
                f'direction="DOWN"/><link_ctn id="port{node}"/></zoneRoute>\n'
            )
    return text + " </zone>\n</platform>\n"
