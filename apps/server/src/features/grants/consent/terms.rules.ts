import type { ManifestTool } from '@behest/protocol/manifest/manifest';
import type { ToolsEntry } from '@behest/protocol/tools-entry';

/** Everything that a consent allows, and for whom. */
export interface Terms {
  readonly scopes: readonly string[];
  readonly entries: readonly ToolsEntry[];
  readonly purpose: string | null;
  /** In billionths of the currency's unit. */
  readonly budget: { readonly units: bigint; readonly currency: string } | null;
  /** As requests write it: `24h`. */
  readonly lifetime: string;
  readonly audience: string | null;
  readonly redirectHost: string | null;
  /** Null where nobody kept how the agent was shown. */
  readonly agent: ShownAgent | null;
  /** The manifest of each connector that has one. */
  readonly manifests: ReadonlyMap<string, ShownManifestOf>;
}

export interface ShownAgent {
  readonly name: string;
  readonly description: string;
  /** Canonical JSON of the public key. */
  readonly key: string | null;
  /** The party that vouches for the client, and the host of the client. */
  readonly client: string | null;
}

export interface ShownManifestOf {
  readonly sha256: string;
  /** Undefined for a version that is no longer kept. */
  readonly tools: ReadonlyMap<string, ManifestTool> | undefined;
}

export type Change = 'new' | 'wider' | 'changed' | 'narrower' | 'removed' | 'same';

export interface DiffItem {
  readonly dimension: Dimension;
  readonly change: Change;
  readonly connector?: string;
  /** The scope, the tool, or the tool and the window of a cap. */
  readonly key?: string;
  readonly before: string | null;
  readonly after: string | null;
  /** One sentence for the person. */
  readonly text: string;
}

export type Dimension =
  | 'scope'
  | 'tools'
  | 'caps'
  | 'arguments'
  | 'data_region'
  | 'purpose'
  | 'budget'
  | 'lifetime'
  | 'audience'
  | 'redirectHost'
  | 'agent'
  | 'manifest';

export interface Diff {
  readonly verdict: 'same' | 'narrower' | 'wider';
  readonly counts: Readonly<Record<Change, number>>;
  readonly items: readonly DiffItem[];
}

/** A limit: higher is wider. */
export function ordered<Limit extends number | bigint>(before: Limit, after: Limit): Change {
  if (before === after) return 'same';
  return after > before ? 'wider' : 'narrower';
}

/** The scheme of an app's own address says whose it is. The text in place of its host says nothing. */
export function hostOf(redirectUri: string): string {
  const { host, protocol } = new URL(redirectUri);
  return protocol === 'https:' || protocol === 'http:' ? host : protocol.slice(0, -1);
}
