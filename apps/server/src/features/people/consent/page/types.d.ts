import type { Child } from '../../../../platform/page/types.js';

/**
 * Types that the page's scripts share, and the shapes of the API that they read. The service serves no part
 * of this.
 */

export interface Cap {
  per_hour?: number;
  per_day?: number;
  per_case?: number;
}

export interface ToolsEntry {
  connector: string;
  tools?: string[];
  /** By tool. `cost_units` counts for all of them together. */
  caps?: Record<string, Cap>;
  data_region?: string;
}

export interface Manifest {
  connector: string;
  version: string | null;
  sha256: string | null;
  /** Whether the approval holds for this version. */
  pinned: boolean;
}

/** The service writes the words, from the rules that it enforces. */
export interface ArgumentLimits {
  connector: string;
  tool: string;
  /** Whether arguments that no line names are free. */
  open: boolean;
  lines: { path: string; text: string }[];
}

export interface ConsentRequest {
  id: string;
  csrfToken: string;
  agentName: string;
  agentDid: string;
  agentDescription?: string | null;
  developerName: string;
  principalId: string;
  scopes: string[];
  /** One text for each of `scopes`, in the same order. */
  scopeDescriptions: string[];
  expiresAt: string;
  /** "24h" */
  grantExpiresIn: string;
  purpose?: string | null;
  purposeLabel?: string | null;
  authorizationDetails?: ToolsEntry[] | null;
  /** A description of each connector that the scopes name. Without a manifest, `version` and `sha256` are null. */
  manifests?: Manifest[];
  argumentLimits?: ArgumentLimits[];
  budget?: { amount: string; currency: string } | null;
  audience?: string | null;
  redirectHost?: string | null;
  sandbox: boolean;
  fidoRequired: boolean;
  verification: { mode: string; satisfied: boolean; methods: string[] };
}

export type Wish = 'approve' | 'deny';

export interface RequestUse {
  /** The view keeps them up to date. */
  choices: Choices;
  now: () => Date;
  /** The part of the page in which a person can give the proof. */
  proofStep: HTMLElement | undefined;
  decide: (wish: Wish) => void;
}

/** A list whose lines a person can take away one by one. */
export interface Lines {
  /** Gives the list a heading and a count. */
  title?: Child;
  keys: string[];
  removed: Set<string>;
  /** The line's name, then notes on it. */
  label: (key: string) => Child[];
}

/** The parts that the person has taken away so far, and the reason so far. */
export interface Choices {
  removedScopes: Set<string>;
  /** By connector. */
  removedTools: Map<string, Set<string>>;
  expiresIn: string;
  reason: string;
}

/** The body of an approval. It holds only differences from the request. */
export interface Narrowing {
  scopes?: string[];
  expiresIn?: string;
  tools?: Record<string, string[]>;
  manifests?: { connector: string; sha256: string | null }[];
}

export interface Decision {
  status: string;
  redirectTo?: string;
}

export interface ToolScope {
  connector: string;
  /** 0 is reading, 3 is administration. */
  level: number;
  resource: string | undefined;
  cap: string | undefined;
}

export interface ScopeGroup {
  kind: 'tool' | 'resource' | 'other';
  name: string;
  members: string[];
}
