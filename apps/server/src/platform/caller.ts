/** Whose rows. An object, not a string, so that it cannot change places with an id. */
export interface Tenant {
  readonly developerId: string;
}

/** What an API key may be; `full` may do all that `runtime` may. */
export type Role = 'runtime' | 'full';

export type Mode = 'live' | 'sandbox';

export type Plan = 'free' | 'pro' | 'enterprise';

/** Who is acting, for whom, in which request: what authentication learned. */
export interface Caller {
  readonly tenant: Tenant;
  /** As the audit log names it: `developer:<keyId>`, `principal`, `system`. */
  readonly actor: string;
  readonly role: Role;
  readonly mode: Mode;
  readonly plan: Plan;
  readonly requestId: string;
  /** The browser that a person's decision comes from. */
  readonly browser?: { readonly ip: string; readonly userAgent: string | null };
}

/** The service itself, doing a developer's work that nobody asked for. @param requestId the name of that work */
export const systemCaller = (
  tenant: Tenant,
  { mode, plan }: Pick<Caller, 'mode' | 'plan'>,
  requestId: string,
): Caller => ({ tenant, actor: 'system', role: 'full', mode, plan, requestId });

/**
 * Whose page it is: what a person's session token proves by itself. Whether the session still goes on, the database
 * says with what is read or done in it.
 */
export interface PrincipalSession {
  readonly tenant: Tenant;
  readonly sessionId: string;
  readonly principalId: string;
  readonly requestId: string;
}

/** Says, after the commit, that something changed of what authentication learns of a developer. */
export type PublishChange = (tenant: Tenant) => Promise<void>;

/** What is looked at when a person's browser asks, and nothing else. */
export interface BrowserRequest {
  /** The id of the record that the path is about. */
  readonly resourceId: string;
  readonly cookies: Readonly<Record<string, string | undefined>>;
  readonly csrfToken: string | undefined;
  readonly isWrite: boolean;
  /** An `Authorization` header, which is not a browser's. */
  readonly hasAuthorization: boolean;
  readonly requestId: string;
  readonly ip: string;
  readonly userAgent: string | undefined;
}
