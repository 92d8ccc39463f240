import type { Manifest, ManifestTool } from '../manifest/manifest.ts';
import { checkReach, checkRegion, type RequestedCall } from './grant-checks.ts';
import { checkToolPin, consentPin, findTool, hashOf, isChangedSince } from './manifest-checks.ts';
import type { Progress } from './outcome.ts';
import type { MaybePromise } from './ports.ts';
import { type Denial, deny } from './reasons.ts';
import type { Warning } from './result.ts';
import type { ReadToken } from './token.ts';

/** A tool at a connector, with what decides about it besides the token. */
export interface ToolQuestion {
  readonly manifest: Manifest | undefined;
  readonly connector: string;
  readonly tool: string;
  readonly toolPin: string | undefined;
  readonly resource: RequestedCall['resource'];
  readonly dataRegion: string | undefined;
  /** True for a list, where a name outside the grammar is never shown. */
  readonly inList: boolean;
  /** Told which check is under way. */
  readonly at: Progress;
}

/** The tool may be used as far as checks 3 to 9 say, or the denial. `permission` is known from check 5 on. */
export type ToolVerdict =
  | { readonly ok: true; readonly asked: RequestedCall; readonly warnings: readonly Warning[] }
  | { readonly ok: false; readonly denial: Denial; readonly declared?: ManifestTool };

/** Checks 3 to 9. It waits only for the hash of a manifest that a consent pins for the first time. */
export function checkTool(token: ReadToken, question: ToolQuestion): MaybePromise<ToolVerdict> {
  const { manifest, connector, tool, toolPin, inList, at } = question;
  const { entries } = token;
  if (!entries.ok) {
    const { ok: _ok, ...details } = entries;
    return { ok: false, denial: deny('token_invalid', 'malformed_authorization_details', details) };
  }
  if (!manifest) return { ok: false, denial: deny('manifest_unknown_tool', 'unknown_connector') };
  at.check = 'tool';
  const declared = findTool(manifest, tool, inList);
  if (!declared) return { ok: false, denial: deny('manifest_unknown_tool', 'unknown_tool') };
  const changed = checkToolPin(declared, toolPin);
  if (changed) return { ok: false, denial: changed, declared };
  const entry = entries.tools.get(connector);
  const asked: RequestedCall = {
    token,
    connector,
    tool,
    manifest,
    declared,
    entry,
    resource: question.resource,
  };
  const pinned = consentPin(token, connector);
  if (pinned === undefined) return checkGrant(asked, question, NO_WARNINGS);
  const hash = hashOf(manifest);
  const afterHash = (sha256: string) => checkConsent(asked, question, { manifest, sha256, pinned });
  return typeof hash === 'string' ? afterHash(hash) : hash.then(afterHash);
}

const NO_WARNINGS: readonly Warning[] = Object.freeze([]);

interface Consent {
  readonly manifest: Manifest;
  readonly sha256: string;
  readonly pinned: unknown;
}

/** The second half of check 5: the tool is not wider than at the consent. */
function checkConsent(
  asked: RequestedCall,
  question: ToolQuestion,
  { manifest, sha256, pinned }: Consent,
): ToolVerdict {
  if (!isChangedSince(manifest, sha256, asked.tool, pinned)) return checkGrant(asked, question, NO_WARNINGS);
  if (asked.token.enforcesManifests) {
    const denial = deny('manifest_unknown_tool', 'manifest_changed', { pinned, loaded: sha256 });
    return { ok: false, denial, declared: asked.declared };
  }
  return checkGrant(asked, question, [{ code: 'manifest_changed', detail: asked.tool }]);
}

function checkGrant(
  asked: RequestedCall,
  { dataRegion, at }: ToolQuestion,
  warnings: readonly Warning[],
): ToolVerdict {
  const { declared } = asked;
  at.check = 'reach';
  const denial = checkReach(asked);
  if (denial) return { ok: false, denial, declared };
  at.check = 'region';
  const region = checkRegion(asked, dataRegion);
  if (region === 'fine') return { ok: true, asked, warnings };
  if (region !== 'unchecked') return { ok: false, denial: region, declared };
  const unchecked: Warning = { code: 'region_unchecked', detail: asked.entry?.dataRegion ?? '' };
  return { ok: true, asked, warnings: [...warnings, unchecked] };
}
