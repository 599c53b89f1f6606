"""Captures of packets: a journal as a pcapng that Wireshark opens, and packets as a journal."""
