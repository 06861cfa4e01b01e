"""What is told of a workspace's memories: lists, details, versions, exports, counts."""
