import { pinOfTool } from '../manifest/tool-pins.ts';
import { isDisabled } from './counters.ts';
import type { EnforcerSetup, HiddenTool, ListedTools, OfferedTool, ToolOffer } from './engine.ts';
import { checkPurpose } from './grant-checks.ts';
import { type Denial, deny } from './reasons.ts';
import { type ReadToken, readToken } from './token.ts';
import { checkRevocation, verifyToken } from './token-check.ts';
import { checkTool } from './tool-check.ts';

/**
 * Selects the tools that some call with the token could use: checks 1 to 9 and 11, and caps of 0. Amount, rules,
 * decisions and what has been used up never hide a tool.
 */
export async function listTools<Tool extends OfferedTool>(
  setup: EnforcerSetup,
  offer: ToolOffer<Tool>,
): Promise<ListedTools<Tool>> {
  const token = await tokenOf(setup, offer);
  const times = new Map<string, number>();
  for (const { name } of offer.tools) times.set(name, (times.get(name) ?? 0) + 1);
  const tools: Tool[] = [];
  const hidden: HiddenTool[] = [];
  for (const tool of offer.tools) {
    const isAmbiguous = times.get(tool.name) !== 1;
    const denial = 'denial' in token ? token.denial : await hides(setup, offer, { token, tool, isAmbiguous });
    if (!denial) tools.push(tool);
    else hidden.push({ tool: tool.name, reason_code: denial.reason_code, sub_reason: denial.sub_reason });
  }
  return { tools, hidden };
}

async function tokenOf(
  setup: EnforcerSetup,
  { grantToken, provedKey }: Pick<ToolOffer<OfferedTool>, 'grantToken' | 'provedKey'>,
): Promise<ReadToken | { readonly denial: Denial }> {
  const verified = await verifyToken(setup.tokens, grantToken, provedKey);
  if (!verified.ok) return verified;
  const revoked = await checkRevocation(setup.revocation, verified);
  return revoked ? { denial: revoked } : readToken(verified);
}

interface Listed<Tool> {
  readonly token: ReadToken;
  readonly tool: Tool;
  /** True when the server offers the name more than once: neither is the first, the last or the right one. */
  readonly isAmbiguous: boolean;
}

async function hides<Tool extends OfferedTool>(
  setup: EnforcerSetup,
  offer: ToolOffer<Tool>,
  { token, tool, isAmbiguous }: Listed<Tool>,
): Promise<Denial | undefined> {
  const manifest = setup.manifests.get(offer.connector);
  const hasPins = manifest?.tools.get(tool.name)?.mcp_pins !== undefined;
  const verdict = await checkTool(token, {
    manifest,
    connector: offer.connector,
    tool: tool.name,
    toolPin: hasPins ? await pinOf(offer, tool) : undefined,
    resource: offer.resource === true ? 'any' : undefined,
    dataRegion: setup.dataRegion,
    inList: true,
    at: { check: 'token' },
  });
  const isDeclared = verdict.ok || verdict.declared !== undefined;
  if (isDeclared && isAmbiguous) return deny('manifest_unknown_tool', 'tool_ambiguous');
  if (!verdict.ok) return verdict.denial;
  const purpose = checkPurpose(verdict.asked);
  if (purpose) return purpose;
  if (setup.capsMode === 'warn' || !isDisabled(verdict.asked)) return undefined;
  return deny('cap_exceeded', 'limit_reached');
}

/** A definition without a pin is one that has changed. */
async function pinOf<Tool extends OfferedTool>({ pinOf: given = pinOfTool }: ToolOffer<Tool>, tool: Tool) {
  try {
    return await given(tool);
  } catch {
    return undefined;
  }
}
