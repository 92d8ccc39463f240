import type { Caller } from '../../../platform/caller.ts';
import type { ListedTools, ToolOffer } from './enforcement.schema.ts';
import { enforcerFor } from './enforcer.ts';
import { type FactDeps, findFacts } from './facts.ts';

/** Selects the offered tools that some call with the token could use. A list is no call, so nothing is recorded. */
export async function listTools(deps: FactDeps, caller: Caller, offer: ToolOffer): Promise<ListedTools> {
  const facts = await findFacts(deps, caller, offer);
  const { tools, hidden } = await enforcerFor(facts).listTools({ ...offer, pinOf: ({ pin }) => pin });
  return {
    tools: tools.map(({ name }) => name),
    hidden: hidden.map(({ tool, reason_code, sub_reason }) => ({
      tool,
      reasonCode: reason_code,
      subReason: sub_reason,
    })),
  };
}
