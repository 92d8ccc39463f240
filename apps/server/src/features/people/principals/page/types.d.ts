import type { NullableAgentProfile, ToolInWords } from '@behest/protocol/shapes';
import type { Answer, ArgumentLimits, Branding, Child, Problem } from '../../../../platform/page/types.js';

/**
 * Types that the page's scripts share, and the shapes of the API that they read. The service serves no part
 * of this.
 */

export interface Grant extends NullableAgentProfile {
  grantId: string;
  agentId: string;
  scopes: string[];
  /** One text for each of `scopes`, in the same order. */
  scopeDescriptions: string[];
  /** What the developer says beside the title. */
  scopeExplanations?: (string | null)[];
  status: 'active' | 'revoked' | 'expired';
  issuedAt: string;
  expiresAt: string;
  revokedAt?: string;
  revokedReason?: string;
  parentGrantId?: string;
  purpose?: string;
  purposeLabel?: string;
  audience?: string;
  argumentLimits?: ArgumentLimits[];
  tools?: ToolInWords[];
  budget?: { amount: string; remaining: string; currency: string };
  unverified?: true;
  lastUsedAt: string | null;
}

export interface GrantPage {
  grants: Grant[];
  principalId: string;
  developerName: string;
  sandbox: boolean;
  branding?: Branding;
  sessionExpiresAt: string;
  nextCursor: string | null;
}

/** An account elsewhere that the person has connected. */
export interface Connection {
  id: string;
  service: string;
  providerName: string;
  /** Null when the provider does not tell the account. */
  account: { id: string; label: string | null } | null;
  scopesGranted: string[];
  status: 'connected' | 'reauthorization_required';
  connectedAt: string;
  lastExchangedAt: string | null;
}

/** A passkey of the person. */
export interface Passkey {
  id: string;
  deviceName: string | null;
  status: 'active' | 'suspect';
  createdAt: string;
  lastUsedAt: string | null;
}

/** The address at which the person read a code. The service does not keep it. */
export interface Address {
  provedAt: string;
  usableUntil: string;
}

/** The parts that few people have anything in. */
export interface Rest {
  connections: Connection[];
  passkeys: Passkey[];
  stops: Stop[];
  address: Address | null;
}

/** The end of an agent's grant that keeps an identity provider from giving it another. */
export interface Stop {
  id: string;
  /** Null after the agent was removed. */
  agentName: string | null;
  by: 'developer' | 'principal' | 'anomaly' | 'policy' | 'admin';
  createdAt: string;
}

export interface Entry {
  entryId: string;
  agentName: string | null;
  action: string;
  metadata: Record<string, unknown>;
  status: 'success' | 'failure' | 'blocked';
  timestamp: string;
  hash: string;
}

export interface EntryPage {
  entries: Entry[];
  nextCursor: string | null;
}

/** A grant with the grants delegated from it. */
export interface Branch {
  grant: Grant;
  branches: Branch[];
}

/** The grants of an agent that its card still shows. */
export interface Card {
  left: Branch[];
  /** Ends one of several, by a button in its details. */
  endOne: (branch: Branch, control: HTMLElement) => void;
}

/** The question before the page ends something. */
export interface Question {
  title: Child;
  text: Child[];
  yes: string;
  no: string;
}

/** Reads one page of a list, as elements. */
export type Ask = (
  cursor: string | null,
) => Promise<Answer<{ rows: HTMLElement[]; nextCursor: string | null }>>;

/** A list that the page reads when a person opens it. */
export interface Later {
  title: string;
  /** The words for an empty list. */
  empty: string;
  ask: Ask;
}

export interface Use {
  api: ReturnType<typeof import('./permissions-api.js').permissionsApi>;
  developerName: string;
  /**
   * The words for a problem that leaves the page as it is. After any other problem the page goes, without
   * words.
   */
  explain: (problem: Problem) => Child;
}
