import type { FrozenClient, NewTokens } from '../credentials/index.ts';

/** The tokens that the upstream gave, sealed in the session's row until the person confirms. */
export interface Returned {
  readonly tokens: NewTokens;
  readonly frozen: FrozenClient;
}

/** The facts that the page tells of it. No member is secret. */
export interface Result {
  readonly account: { readonly id: string; readonly label: string | null } | null;
  readonly scopesAsked: readonly string[];
  readonly scopesGranted: readonly string[];
  readonly requiredScopes: readonly string[];
  /** The times at which the tokens end, counted from the answer. */
  readonly tokenExpiresAt: string | null;
  readonly refreshTokenExpiresAt: string | null;
}

export const resultOf = ({ result }: { readonly result: unknown }): Result | undefined =>
  result === null ? undefined : Object(result); // stored by this service
