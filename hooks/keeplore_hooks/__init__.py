"""How hosts reach Keeplore: the spool, the host events, the extension points, the host adapters."""
