import { isConnectorName } from '../tools-entry.ts';

/** The tools that one connector offers, by name. */
export interface ExposedConnector {
  readonly connector: string;
  readonly tools: readonly string[];
}

/** A tool at its connector. */
export type ToolAt = readonly [connector: string, tool: string];

/** One list for several connectors. */
export interface ExposedTools {
  /** The pair of each exposed name. A call finds its pair here, never by cutting the name apart. */
  readonly exposed: ReadonlyMap<string, ToolAt>;
  /** The pairs without a name of their own, in the order of the connectors. */
  readonly hidden: readonly ToolAt[];
}

const MAX_LENGTH = 64; // the most that models take as the name of a tool

/**
 * Names the tools of several connectors for one list, as `<connector>__<tool>`. A name that is too long, and names that
 * differ in nothing but case, are not exposed: none of them, because no order would be the right one.
 */
export function exposeTools(connectors: readonly ExposedConnector[]): ExposedTools {
  const pairs = connectors.flatMap(({ connector, tools }) => tools.map((tool): ToolAt => [connector, tool]));
  const times = new Map<string, number>();
  for (const pair of pairs) times.set(keyOf(pair), (times.get(keyOf(pair)) ?? 0) + 1);
  const isExposed = (pair: ToolAt) =>
    isConnectorName(pair[1]) && nameOf(pair).length <= MAX_LENGTH && times.get(keyOf(pair)) === 1;
  return {
    exposed: new Map(pairs.filter(isExposed).map((pair) => [nameOf(pair), pair])),
    hidden: pairs.filter((pair) => !isExposed(pair)),
  };
}

function nameOf([connector, tool]: ToolAt): string {
  return `${connector}__${tool}`.replace(/[^A-Za-z0-9_-]/g, '_');
}

function keyOf(pair: ToolAt): string {
  return nameOf(pair).toLowerCase(); // ASCII by then
}
