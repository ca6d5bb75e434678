"""Ways in that stand on the services: doctor today; bridge, MCP and hooks later."""
