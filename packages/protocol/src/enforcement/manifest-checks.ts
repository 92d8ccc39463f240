import { decodeBase64url } from '../base64url.ts';
import type { Manifest, ManifestTool } from '../manifest/manifest.ts';
import { manifestSha256 } from '../manifest/pins.ts';
import { isConnectorName } from '../tools-entry.ts';
import type { Binding } from './action.ts';
import type { MaybePromise } from './ports.ts';
import { type Denial, deny } from './reasons.ts';
import type { ReadToken } from './token.ts';

const hashes = new WeakMap<Manifest, string>();

/** Hashes a manifest the first time that a token's consent is compared with it. */
export function hashOf(manifest: Manifest): MaybePromise<string> {
  const known = hashes.get(manifest);
  if (known !== undefined) return known;
  return manifestSha256(manifest).then((sha256) => {
    hashes.set(manifest, sha256);
    return sha256;
  });
}

/** What a decision about a tool binds, where its manifest does not leave that at everything. */
export async function bindingOf(manifest: Manifest, { binds }: ManifestTool): Promise<Binding | undefined> {
  return binds && { binds, sha256: await hashOf(manifest) };
}

/** The pin of the definition that was last given to the caller, where the tool has pins. */
export function checkToolPin(
  { mcp_pins: pins }: ManifestTool,
  offered: string | undefined,
): Denial | undefined {
  if (!pins || (offered !== undefined && pins.includes(offered))) return undefined;
  return deny('manifest_unknown_tool', 'tool_changed', { pinned: pins, offered: offered ?? null });
}

/** The hash that the consent names for a manifest; undefined when it names none. */
export function consentPin({ manifests }: ReadToken, connector: string): unknown {
  return Object.hasOwn(manifests, connector) ? manifests[connector] : undefined;
}

/** The tool is wider than the person who consented could see. */
export function isChangedSince(manifest: Manifest, sha256: string, tool: string, pinned: unknown): boolean {
  const before = typeof pinned === 'string' ? hexOf(pinned) : undefined;
  if (before === sha256) return false;
  const wider = manifest.pins.find((pin) => pin.sha256 === before)?.wider;
  return !wider || wider.includes(tool);
}

function hexOf(base64url: string): string | undefined {
  const bytes = decodeBase64url(base64url);
  return bytes && Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Finds a tool of a manifest. A legacy manifest may declare names that no list may hold. */
export function findTool({ tools }: Manifest, name: string, inList: boolean): ManifestTool | undefined {
  return inList && !isConnectorName(name) ? undefined : tools.get(name);
}
