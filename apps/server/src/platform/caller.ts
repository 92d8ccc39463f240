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
