import type { Caller } from '../../../platform/caller.ts';
import type { Sent } from './credentials.rules.ts';
import type { DescribedClient } from './described.ts';
import type { FoundClient } from './oauth.repo.ts';

/** The parts of a request by which a client that belongs to no developer says which developer it is about. */
export interface TenantClues {
  readonly resource?: readonly string[];
  readonly code?: string;
  readonly refresh_token?: string;
  readonly token?: string;
  readonly device_code?: string;
  readonly assertion?: string;
}

/** The parts of a request that say which client made it, and from where. */
export interface ClientRequest {
  readonly authorization: string | undefined;
  readonly sent: Sent;
  readonly clues: TenantClues;
  readonly requestId: string;
  readonly address: string;
}

/** A client at one developer, where it acts as an agent. */
export interface Client {
  readonly clientId: string;
  readonly caller: Caller;
  readonly agentId: string;
  readonly agentDid: string;
  /** Whether the agent is neither suspended nor revoked. The engine alone judges the agent of a described client. */
  readonly isActive: boolean;
  readonly redirectUris: readonly string[];
  /** Whether it has neither a secret nor a key. */
  readonly isPublic: boolean;
  readonly dpopBound: boolean;
  /** How a client that no developer has registered describes itself. */
  readonly described?: DescribedClient;
  /** Whether nobody has approved this client at this developer yet. */
  readonly isProposed?: boolean;
}

/** A client before it is known for which developer it acts. */
export type KnownClient = { readonly agent: FoundClient } | { readonly described: DescribedClient };
