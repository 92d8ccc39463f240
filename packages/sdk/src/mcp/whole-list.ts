import type { Message, ToolDefinition } from './messages.ts';

// More than this is an error, because a part of a list would hide tools.
const [MAX_PAGES, MAX_TOOLS, MAX_LENGTH] = [50, 1_000, 4 * 1_024 * 1_024];

/** The tools of a server, and the members of its answer besides them; or the error that it answered. */
export type WholeList =
  | { readonly tools: readonly ToolDefinition[]; readonly others: Readonly<Record<string, unknown>> }
  | { readonly error: unknown };

/**
 * Reads every page of a server's list, so that nothing is filtered by the accident of a page's end.
 *
 * @param ask sends `tools/list` to the server
 * @throws Error for a list that is longer than anybody reads
 */
export async function wholeList(
  ask: (params: Readonly<Record<string, unknown>>) => Promise<Message>,
): Promise<WholeList> {
  const all: ToolDefinition[] = [];
  let [cursor, length]: [unknown, number] = [undefined, 0];
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { result, error } = await ask(cursor === undefined ? {} : { cursor });
    if (!result) return { error };
    const { tools, nextCursor, ...others } = result;
    const text = JSON.stringify(Array.isArray(tools) ? tools : []);
    length += text.length;
    // As the client will read it: a definition inside the process may have members that JSON leaves out.
    const listed: readonly unknown[] = JSON.parse(text);
    all.push(...listed.filter(isDefinition));
    if (all.length > MAX_TOOLS || length > MAX_LENGTH) throw new Error('The list of tools is too long.');
    if (nextCursor === undefined || nextCursor === null) return { tools: all, others };
    cursor = nextCursor;
  }
  throw new Error('The list of tools has too many pages.');
}

function isDefinition(value: unknown): value is ToolDefinition {
  return typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string';
}
