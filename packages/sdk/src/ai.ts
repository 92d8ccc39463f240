import { type AgentCalls, askPeople } from './agents/people.ts';
import type { Behest } from './behest.ts';
import { BehestError } from './errors.ts';

/** The part of a tool of the AI SDK that runs it. */
interface Executable {
  // The SDK's own types say what a tool takes; here any tool fits.
  readonly execute?: ((input: never, options: never) => unknown) | undefined;
}

/**
 * Makes tools of the AI SDK ask before each call. Their names in manifests are their keys. The model reads a denial as the
 * error of the tool; where a person has to decide, it names the page, and the same call runs after they approved.
 *
 * @throws BehestError for a tool without `execute`, which runs somewhere else
 *
 * @example
 * ```ts
 * const tools = protectTools(behest, { lookup: tool({ inputSchema, execute }) }, { connector: 'crm', grantToken });
 * const { text } = await generateText({ model, tools, prompt });
 * ```
 */
export function protectTools<Tools extends Readonly<Record<string, Executable>>>(
  behest: Behest,
  tools: Tools,
  calls: AgentCalls,
): Tools {
  const onWaiting = askPeople(behest);
  const protectedTools = Object.entries(tools).map(([name, tool]) => {
    const { execute } = tool;
    if (!execute) throw new BehestError('CONFIGURATION', `The tool ${name} has no execute.`);
    const run = (input: object, options: unknown) =>
      behest.wrapTool((args: object) => lastOf(execute(args as never, options as never)), {
        ...{ ...calls, tool: name, onWaiting },
      })(input);
    return [name, { ...tool, execute: run }];
  });
  return Object.fromEntries(protectedTools); // the same keys, with tools of the same types
}

/** A tool may answer in steps. The call is decided before the first of them, so only the last one is left to show. */
async function lastOf(answer: unknown): Promise<unknown> {
  const steps = Object(answer);
  if (typeof steps[Symbol.asyncIterator] !== 'function') return answer;
  let last: unknown;
  for await (const step of steps) last = step;
  return last;
}
