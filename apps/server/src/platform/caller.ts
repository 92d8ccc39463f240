import type { Capability, MemberRole } from './capabilities.ts';

/** A request as it is kept until it is decided. */
export interface KeptRequest {
  readonly operation: string;
  readonly params: unknown;
  readonly body: unknown;
}

/** What a request asks of who agrees to it. */
export interface NeededFor {
  capabilitiesFor(body: unknown): readonly (Capability | 'never' | undefined)[];
}

/** What a request would weaken. */
export interface Loosening {
  /** The record, in words of the service: `policy pol_…`. */
  readonly about: string;
  /** What is now, and what would be. The same before and after nothing else has changed. */
  readonly difference: Readonly<Record<string, unknown>>;
}

/** A change that members have agreed to. */
interface AgreedChange {
  readonly changeId: string;
  /** As they saw it. */
  readonly difference: unknown;
  /** Called when the change turns out to be the one that they saw. */
  readonly onReached: () => void;
}

/** Ends the work on a request that a second member has to agree to. Nothing of it stays. */
export class NeedsSecondMember extends Error {
  override readonly name = 'NeedsSecondMember';
  readonly loosening: Loosening;

  constructor(loosening: Loosening) {
    super(`A second member has to agree: ${loosening.about}`);
    this.loosening = loosening;
  }
}

/** The developer whose rows a query may see. An object, so that an id cannot take its place. */
export interface Tenant {
  readonly developerId: string;
}

/** The role of an API key; `full` may do all that `runtime` may. */
export type Role = 'runtime' | 'full';

export type Mode = 'live' | 'sandbox';

export type Plan = 'free' | 'pro' | 'enterprise';

/** The rows that a caller may see: those of a developer or, with a bound API key, those of some of its agents. */
export interface Reach {
  readonly tenant: Tenant;
  /** Null means all agents of the developer, and the rows that concern no agent. */
  readonly agentIds: readonly string[] | null;
}

/** Whether a row about this agent may be seen. @param agentId null in a row that concerns no agent */
export const isWithin = ({ agentIds }: Pick<Reach, 'agentIds'>, agentId: string | null): boolean =>
  agentIds === null || (agentId !== null && agentIds.includes(agentId));

/** The cookie of a session of the console, with the prefix `__Host-` where the service is served over https. */
export const CONSOLE_COOKIE = 'bh_console';

/** The member of the console whose session made a request. */
export interface ActingMember {
  readonly memberId: string;
  readonly role: MemberRole;
  readonly sessionId: string;
  /** What the session may do. Empty until its member has registered a passkey, where they have to. */
  readonly capabilities: readonly Capability[];
  /** Whether the member used their passkey a short time ago in this session, or none is asked for. */
  readonly isSteppedUp: boolean;
  /** The time for which a use of the passkey counts. */
  readonly stepUpSeconds: number;
}

/** The identity that a request was authenticated as. */
export interface Caller extends Reach {
  /** The actor, as the audit log names it: `developer:<keyId>`, `member:<memberId>`, `principal`, `system`. */
  readonly actor: string;
  /** The API key that made the request. Absent when a person or the service acts. */
  readonly keyId?: string;
  readonly role: Role;
  readonly mode: Mode;
  readonly plan: Plan;
  readonly requestId: string;
  /** The address of the client, behind the proxies that the operator trusts. Absent where no request was made. */
  readonly address?: string;
  /** The approver, and the session of the page `/approve`, of a request by its cookie. */
  readonly approver?: { readonly approverId: string; readonly sessionId: string };
  /** The member of the account whose session of the console made the request, in place of a key. */
  readonly member?: ActingMember;
  /** The change that members agreed to, and the caller applies. */
  readonly agreed?: AgreedChange;
  /** The browser of a person's decision. */
  readonly browser?: { readonly ip: string; readonly userAgent: string | null };
}

/** The service itself, at work for a developer without a request. @param requestId the name of that work */
export const systemCaller = (
  tenant: Tenant,
  { mode, plan }: Pick<Caller, 'mode' | 'plan'>,
  requestId: string,
): Caller => ({ tenant, agentIds: null, actor: 'system', role: 'full', mode, plan, requestId });

/** An agent that showed its grant token, which the database said to be live. */
export interface GrantHolder extends Caller {
  readonly tokenId: string;
  readonly grantId: string;
  /** The grant from which the holder's was delegated. */
  readonly parentGrantId: string | null;
  readonly agentId: string;
  readonly agentDid: string;
  readonly principalId: string;
  readonly purpose: string | null;
  readonly scopes: readonly string[];
  /** The stored entries of the token, and those of its grant for connectors that the token has none for. */
  readonly authorizationDetails: unknown;
}

/**
 * The session that a principal's token proves by itself. The database says whether it is still live, in the
 * query that reads or changes something for it.
 */
export interface PrincipalSession {
  readonly tenant: Tenant;
  /** Opened by a mailed link, which shows no more than that somebody reads the mailbox. */
  readonly isMailed?: boolean;
  readonly sessionId: string;
  readonly principalId: string;
  readonly requestId: string;
}

/** The party that showed `ADMIN_API_KEY`. It acts on the deployment, and for no developer. */
export interface OperatorCaller {
  readonly actor: 'admin';
  readonly requestId: string;
}

/** Publishes, after the commit, that a developer's keys, plan or settings changed. */
export type PublishChange = (tenant: Tenant) => Promise<void>;

/** The parts of a browser's request that authentication reads. */
export interface BrowserRequest {
  /** The id of the record that the path names. */
  readonly resourceId: string;
  readonly cookies: Readonly<Record<string, string | undefined>>;
  readonly csrfToken: string | undefined;
  readonly isWrite: boolean;
  /** `Origin`, `Sec-Fetch-Site` and `Content-Type`, as the browser sent them. */
  readonly origin: string | undefined;
  readonly fetchSite: string | undefined;
  readonly contentType: string | undefined;
  /** Made by the page and not by its person, such as a live stream. It does not count as use of the session. */
  readonly isBackground: boolean;
  /** An `Authorization` header, which browsers do not send here. */
  readonly hasAuthorization: boolean;
  readonly requestId: string;
  readonly ip: string;
  readonly userAgent: string | undefined;
}

/** The request that a proof of possession came with (RFC 9449). */
export interface Proved {
  /** The `DPoP` headers, one text for each line. */
  readonly proofs: readonly string[];
  readonly method: string;
  /** The path of the endpoint, without a query. */
  readonly path: string;
  /** The token that is used with the proof. */
  readonly accessToken?: string;
}

/** A grant token as a request shows it. */
export interface ShownToken {
  readonly token: string;
  readonly scheme: 'Bearer' | 'DPoP';
  readonly proof: Proved;
  /** Whether the route takes tokens that resources got for the vault. */
  readonly takesExchanged?: boolean;
}
