import type { Answer, Child, Problem } from '../../../../platform/page/types.js';

/** What the page's scripts hand to each other, and the shapes of the API they read. Nothing here is served. */

export interface Cap {
  per_hour?: number;
  per_day?: number;
  per_case?: number;
}

export interface ToolsEntry {
  connector: string;
  tools?: string[];
  /** By tool; `cost_units` stands for all of them together. */
  caps?: Record<string, Cap>;
  data_region?: string;
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
  /** Parallel to `scopes`. */
  scopeDescriptions: string[];
  expiresAt: string;
  /** "24h" */
  grantExpiresIn: string;
  purpose?: string | null;
  purposeLabel?: string | null;
  authorizationDetails?: ToolsEntry[] | null;
  budget?: { amount: string; currency: string } | null;
  audience?: string | null;
  redirectHost?: string | null;
  sandbox: boolean;
  fidoRequired: boolean;
  verification: { mode: string; satisfied: boolean; methods: string[] };
}

export type Wish = 'approve' | 'deny';

export interface RequestUse {
  /** Kept up to date by the view. */
  choices: Choices;
  now: () => Date;
  /** Where one can prove on this page who one is. */
  proofStep: HTMLElement | undefined;
  decide: (wish: Wish) => void;
}

/** A list of which each line can be taken away. */
export interface Lines {
  /** Lists that have one are headed, and their lines counted. */
  title?: Child;
  keys: string[];
  removed: Set<string>;
  /** First what is read as the line's name, then notes on it. */
  label: (key: string) => Child[];
}

export interface EmailUse {
  sendCode: () => Promise<Answer<unknown>>;
  checkCode: (code: string) => Promise<Answer<unknown>>;
  proved: () => void;
  /** The words for a problem that is not about the code. */
  explain: (problem: Problem) => Child;
}

/** What the person has taken away so far, and the reason written so far. */
export interface Choices {
  removedScopes: Set<string>;
  /** By connector. */
  removedTools: Map<string, Set<string>>;
  expiresIn: string;
  reason: string;
}

/** The body of an approval: only what differs from the request. */
export interface Narrowing {
  scopes?: string[];
  expiresIn?: string;
  tools?: Record<string, string[]>;
}

export interface Decision {
  status: string;
  redirectTo?: string;
}

export interface ToolScope {
  connector: string;
  /** From 0, reading, to 3, administration. */
  level: number;
  resource: string | undefined;
  cap: string | undefined;
}

export interface ScopeGroup {
  kind: 'tool' | 'resource' | 'other';
  name: string;
  members: string[];
}
