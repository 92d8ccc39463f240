import { interrupt, task } from '@langchain/langgraph';
import { type AgentCalls, answerOf, asked, pendingOf } from './agents/people.ts';
import type { Behest } from './behest.ts';
import type { WrappedCall } from './client/wrapped-tool.ts';

/**
 * Makes the function of a LangGraph tool ask before each call. Where a person has to decide, the graph is interrupted with
 * `{decisionId, url}`: resume it with any value when they have decided. The graph needs a checkpointer for that; it keeps the
 * id of the request, so that people are asked once however often the node runs.
 *
 * @example
 * ```ts
 * const pay = tool(protectTool(behest, execute, { connector: 'bank', tool: 'pay', grantToken }), { name: 'pay', schema });
 * const paused = await graph.invoke(input, thread); // paused.__interrupt__[0].value.url
 * const done = await graph.invoke(new Command({ resume: true }), thread);
 * ```
 */
export function protectTool<Input extends object, Rest extends unknown[], Value>(
  behest: Behest,
  execute: (input: Input, ...rest: Rest) => Value | Promise<Value>,
  calls: AgentCalls & { readonly tool: string },
): (input: Input, ...rest: Rest) => Promise<Value> {
  const onWaiting: WrappedCall['onWaiting'] = async (call, denied) => {
    // A task runs once, and its answer is in the checkpoint. It takes no arguments: they would be there too.
    const ask = task('behest.request', () => asked(denied, () => behest.approvals.request(call)));
    const { decisionId } = await ask();
    for (;;) {
      const { decision, decisionGrants } = await answerOf(behest, decisionId, { call, denied });
      if (decisionGrants) return decisionGrants;
      interrupt(pendingOf(decision)); // answers at once for each time that the graph was resumed
    }
  };
  return (input, ...rest) =>
    behest.wrapTool((args: Input) => execute(args, ...rest), { ...calls, onWaiting })(input);
}
