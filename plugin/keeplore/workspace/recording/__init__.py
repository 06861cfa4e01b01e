"""What makes memory of the host events that a workspace is told of."""
