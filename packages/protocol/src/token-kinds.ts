interface TokenKind {
  /** What the header's `typ` has to be, and may be left out for where undefined is among them. */
  readonly types: readonly (string | undefined)[];
  /** Whether the token says who issued it and when it ends. A status list and a checkpoint say less. */
  readonly hasIssuer: boolean;
  readonly hasExpiry: boolean;
}

const demanding = { hasIssuer: true, hasExpiry: true };

/**
 * The kinds of token that this service signs, or takes from those that others sign. Each demands its own `typ`, so that none passes for another
 * (RFC 8725, section 3.11); only grant tokens may do without, as those from before 0.6 did.
 */
export const tokenKinds = {
  grant: { types: [undefined, 'jwt', 'at+jwt', 'application/at+jwt'], ...demanding },
  'verifiable-credential': { types: ['vc+jwt'], ...demanding },
  'sd-jwt': { types: ['dc+sd-jwt', 'vc+sd-jwt'], ...demanding },
  'agent-passport': { types: ['agent-passport+jwt'], ...demanding },
  'principal-session': { types: ['principal-session+jwt'], ...demanding },
  'wallet-authorization': { types: ['wallet-authorization+jwt'], ...demanding },
  decision: { types: ['decision+jwt'], ...demanding },
  'status-list': { types: ['statuslist+jwt'], hasIssuer: false, hasExpiry: true },
  'consent-hint': { types: ['consent-hint+jwt'], ...demanding },
  'audit-checkpoint': { types: ['audit-checkpoint+jwt'], hasIssuer: false, hasExpiry: false },
} satisfies Record<string, TokenKind>;

export type TokenKindName = keyof typeof tokenKinds;

/** Media types are compared without case for grant tokens (RFC 9068, section 4), elsewhere as written. */
export function isTypeOf(kind: TokenKindName, type: unknown): boolean {
  const { types }: TokenKind = tokenKinds[kind];
  if (type === undefined) return types.includes(undefined);
  return typeof type === 'string' && types.includes(kind === 'grant' ? type.toLowerCase() : type);
}
