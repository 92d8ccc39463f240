import { type AgentCalls, answerOf, asked, type Pending, pendingOf, undecided } from './agents/people.ts';
import type { Behest } from './behest.ts';
import type { WrappedCall } from './client/wrapped-tool.ts';

/** The part of Mastra's context that pauses a tool, which agents and workflows have. */
interface Pausing {
  readonly suspend?: (payload: never) => Promise<unknown>;
  readonly suspendPayload?: unknown;
}

class Suspended extends Error {}

/**
 * Makes the options of a Mastra tool ask before each call. Where a person has to decide, the tool is suspended with
 * `{decisionId, url}`: resume it when they have decided. Where nothing can be suspended, the error names the page.
 *
 * @example
 * ```ts
 * const pay = createTool(protectTool(behest, { id: 'pay', inputSchema, execute }, { connector: 'bank', grantToken }));
 * ```
 */
export function protectTool<
  Options extends { readonly id: string; readonly execute?: (...given: never[]) => Promise<unknown> },
>(behest: Behest, options: Options, calls: AgentCalls): Options {
  const { id: tool, execute } = options;

  async function run(input: unknown, context: { agent?: Pausing; workflow?: Pausing } = {}) {
    const pausing = context.agent ?? context.workflow ?? {};
    const onWaiting: WrappedCall['onWaiting'] = async (call, denied) => {
      const { decisionId } = Object(pausing.suspendPayload);
      const { decision, decisionGrants } =
        typeof decisionId === 'string'
          ? await answerOf(behest, decisionId, { call, denied })
          : await asked(denied, () => behest.approvals.resume(call));
      if (decisionGrants) return decisionGrants;
      if (!pausing.suspend || decision.status !== 'pending') throw undecided(decision, denied);
      const pending: Pending = pendingOf(decision);
      await pausing.suspend(pending as never);
      throw new Suspended();
    };
    const wrapped = behest.wrapTool(async (args: object) => execute?.(args as never, context as never), {
      ...{ ...calls, tool, onWaiting },
    });
    return wrapped(Object(input)).catch((error: unknown) => {
      if (!(error instanceof Suspended)) throw error; // Mastra takes no answer of a suspended tool
    });
  }
  return { ...options, execute: run };
}
