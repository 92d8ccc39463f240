import type { Answer, Child, Problem } from '../../../../platform/page/types.js';

/** What the page's scripts hand to each other, and the shapes of the API they read. Nothing here is served. */

export interface Grant {
  grantId: string;
  agentId: string;
  /** Null where the agent has been removed. */
  agentName: string | null;
  agentDescription: string | null;
  agentDid: string | null;
  scopes: string[];
  /** Parallel to `scopes`. */
  scopeDescriptions: string[];
  status: 'active' | 'revoked' | 'expired';
  issuedAt: string;
  expiresAt: string;
  revokedAt?: string;
  revokedReason?: string;
  parentGrantId?: string;
  purpose?: string;
  purposeLabel?: string;
  audience?: string;
  unverified?: true;
  lastUsedAt: string | null;
}

export interface GrantPage {
  grants: Grant[];
  principalId: string;
  developerName: string;
  sandbox: boolean;
  sessionExpiresAt: string;
  nextCursor: string | null;
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

/** A grant with what was passed on of it. */
export interface Branch {
  grant: Grant;
  branches: Branch[];
}

/** What is asked before something is ended. */
export interface Question {
  title: Child;
  text: Child[];
  yes: string;
  no: string;
}

/** Reads one page of a list, made ready to be shown. */
export type Ask = (
  cursor: string | null,
) => Promise<Answer<{ rows: HTMLElement[]; nextCursor: string | null }>>;

/** A list that is read when it is opened. */
export interface Later {
  title: string;
  /** Said where there is nothing. */
  empty: string;
  isOpen?: boolean;
  ask: Ask;
}

export interface Use {
  api: ReturnType<typeof import('./permissions-api.js').permissionsApi>;
  developerName: string;
  /** The words for a problem that leaves the page as it is; any other takes the page away, and there are none. */
  explain: (problem: Problem) => Child;
}
