import type { ToolDefinition } from './messages.ts';

/**
 * Declares how a gateway makes an AuthZEN question of a call of this tool. The mapping that gateways have by default
 * names no token, and two tokens of one person and one agent may differ.
 * @see COAZ-MCP binding, draft 1
 */
export function withMapping(tool: ToolDefinition, connector: string): ToolDefinition {
  const evaluation = {
    subject: { type: 'identity', id: '$token.sub' },
    action: { name: tool.name },
    resource: { type: 'connector', id: connector },
    context: { agent: '$token.?client_id', jti: '$token.jti', arguments: '$params.?arguments' },
  };
  const { inputSchema = { type: 'object' } } = tool;
  return { ...tool, inputSchema: { ...inputSchema, 'x-authzen-mapping': { evaluation } } };
}
