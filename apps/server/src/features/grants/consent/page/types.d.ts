import type { AgentProfile, ToolInWords } from '@behest/protocol/shapes';
import type { ArgumentLimits, Branding, Child, Part } from '../../../../platform/page/types.js';

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
  /** By tool. */
  arguments?: Record<string, Rules>;
}

export interface Manifest {
  connector: string;
  version: string | null;
  sha256: string | null;
  /** Whether the approval holds for this version. */
  pinned: boolean;
}

/** The rule of one argument, as far as the page offers less. */
export interface Rule {
  min?: string;
  max?: string;
  in?: (string | number | boolean | null)[];
  prefix?: string[];
  suffix?: string[];
  email?: string[];
  host?: string[];
  path?: string[];
  url?: string[];
  cidr?: string[];
  each?: Rules;
  optional?: true;
  open?: true;
}

/** By JSON Pointer. */
export type Rules = Record<string, Rule>;

export type Bound = 'min' | 'max';

/** A rule, with the names that lead to it. Below `each` there is more than one pointer. */
export interface Place {
  names: string[];
  pointers: string[];
  rule: Rule;
}

export interface LimitsUse {
  choices: Choices;
  /** Called when the selection changes. */
  refresh: () => void;
  /** Whether the selection still has the tool. */
  isKept: (connector: string, tool: string) => boolean;
}

export interface Previous {
  grantId: string;
  issuedAt: string;
  status: 'active' | 'revoked' | 'expired';
  expiresAt: string;
  scopes: string[];
  /** Other active permissions of the agent. */
  otherActive: number;
}

export interface DiffItem {
  dimension: string;
  change: 'new' | 'wider' | 'changed' | 'narrower' | 'removed' | 'same';
  connector?: string;
  key?: string;
  before: string | null;
  after: string | null;
  text: string;
}

export interface ConsentRequest extends AgentProfile {
  id: string;
  csrfToken: string;
  developerName: string;
  branding?: Branding;
  principalId: string;
  scopes: string[];
  /** One text for each of `scopes`, in the same order. */
  scopeDescriptions: string[];
  /** What the developer says beside the title. */
  scopeExplanations?: (string | null)[];
  /** The hash of the words that resources have for the scopes. */
  scopeWordsSha256?: string | null;
  expiresAt: string;
  /** "24h" */
  grantExpiresIn: string;
  purpose?: string | null;
  purposeLabel?: string | null;
  authorizationDetails?: ToolsEntry[] | null;
  /** A description of each connector that the scopes name. Without a manifest, `version` and `sha256` are null. */
  manifests?: Manifest[];
  /** The tools in the words of their manifests. */
  tools?: ToolInWords[];
  argumentLimits?: ArgumentLimits[];
  budget?: { amount: string; currency: string } | null;
  audience?: string | null;
  redirectHost?: string | null;
  channel?: 'device' | 'ciba';
  comparedText?: string;
  client?: {
    name: string | null;
    vouchedBy: 'developer' | 'host' | 'nobody';
    host: string | null;
    isLocal: boolean;
    resourceNames: string[];
  } | null;
  sandbox: boolean;
  fidoRequired: boolean;
  /** The person's last consent to the agent; null before the proof, and for the first. */
  previous: Previous | null;
  diff: { verdict: 'same' | 'narrower' | 'wider'; items: DiffItem[] } | null;
  /** The permission that ends when the new one begins; null before the proof. */
  replacesGrantId: string | null;
  verification: {
    mode: string;
    satisfied: boolean;
    methods: string[];
    /** Whether the page can send the person to an identity provider. */
    signInHere?: true;
    /** The browser is signed in as somebody else. */
    otherPerson?: true;
  };
}

export type DecisionKind = 'approve' | 'deny';

export interface RequestUse {
  /** The view keeps them up to date. */
  choices: Choices;
  now: () => Date;
  /** The part of the page in which a person can give the proof. */
  proofStep: HTMLElement | undefined;
  decide: (kind: DecisionKind) => void;
  renderLimits: (request: ConsentRequest, use: LimitsUse) => Limits;
  /** Only where there is a last consent. */
  renderDifference:
    | ((request: ConsentRequest, use: { choices: Choices; now: () => Date; refresh: () => void }) => Child)
    | undefined;
}

/** The limits on what the agent may pass to tools, and what the person has made of them. */
export interface Limits {
  parts: HTMLElement[];
  follow: () => void;
  isTighter: () => boolean;
  /** What is wrong with a limit of the person. */
  missing: () => Part[] | undefined;
  narrowing: () => Record<string, Record<string, Rules>>;
}

/** A list whose lines a person can take away one by one. */
export interface Lines {
  /** Gives the list a heading and a count. */
  title?: Child;
  keys: string[];
  removed: Set<string>;
  /** The line's name, then notes on it. */
  label: (key: string) => Child[];
  /** Whether a line reaches far, and is set off. */
  kind?: (key: string) => string | undefined;
}

/** The parts that the person has taken away so far, and the reason so far. */
export interface Choices {
  removedScopes: Set<string>;
  /** By connector. */
  removedTools: Map<string, Set<string>>;
  /** The bounds that the person wrote, and the items that the person took off, by rule. */
  bounds: Map<string, string>;
  removedItems: Map<string, Set<number>>;
  expiresIn: string;
  reason: string;
}

/** The body of an approval. It holds only differences from the request. */
export interface Narrowing {
  scopes?: string[];
  expiresIn?: string;
  tools?: Record<string, string[]>;
  arguments?: Record<string, Record<string, Rules>>;
  manifests?: { connector: string; sha256: string | null }[];
  scopeWordsSha256?: string | null | undefined;
}

export interface Decision {
  status: string;
  redirectTo?: string;
}
