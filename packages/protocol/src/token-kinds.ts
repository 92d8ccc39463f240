interface TokenKind {
  /** The values that the header's `typ` may have. With undefined among them, `typ` may be absent. */
  readonly types: readonly (string | undefined)[];
  /** True when the token has to have `iss`. */
  readonly hasIssuer: boolean;
  /** True when the token has to have `exp`. */
  readonly hasExpiry: boolean;
  /** The longest of the kind, in bytes. The others are sent as a header, of which servers commonly take 16,384. */
  readonly mostBytes?: number;
}

const demanding = { hasIssuer: true, hasExpiry: true };

/**
 * The kinds of token that the service signs or accepts. Each kind has its own `typ`, so that no token passes for
 * another kind (RFC 8725, section 3.11). Only a grant token may have no `typ`, because tokens from before 0.6 have
 * none.
 */
export const tokenKinds = {
  grant: { types: [undefined, 'jwt', 'at+jwt', 'application/at+jwt'], ...demanding },
  'verifiable-credential': { types: ['vc+jwt'], ...demanding, mostBytes: 65_536 },
  'sd-jwt': { types: ['dc+sd-jwt', 'vc+sd-jwt'], ...demanding, mostBytes: 65_536 },
  'resource-exchange': { types: ['resource-exchange+jwt'], ...demanding },
  'agent-passport': { types: ['agent-passport+jwt'], ...demanding },
  'principal-session': { types: ['principal-session+jwt'], ...demanding },
  'wallet-authorization': { types: ['wallet-authorization+jwt'], ...demanding },
  decision: { types: ['decision+jwt'], ...demanding },
  'status-list': { types: ['statuslist+jwt'], hasIssuer: false, hasExpiry: true },
  'consent-hint': { types: ['consent-hint+jwt'], ...demanding },
  'connect-hint': { types: ['connect-hint+jwt'], ...demanding },
  'audit-checkpoint': { types: ['audit-checkpoint+jwt'], hasIssuer: false, hasExpiry: false },
} satisfies Record<string, TokenKind>;

/** The name of a kind of token. */
export type TokenKindName = keyof typeof tokenKinds;

/** The longest token of a kind, in bytes. */
export function mostBytesOf(kind: TokenKindName): number {
  const { mostBytes = 16_384 }: TokenKind = tokenKinds[kind];
  return mostBytes;
}

/**
 * Tells whether a header's `typ` is that of a kind. Case does not matter for grant tokens (RFC 9068, section 4); it
 * matters for all others.
 */
export function isTypeOf(kind: TokenKindName, type: unknown): boolean {
  const { types }: TokenKind = tokenKinds[kind];
  if (type === undefined) return types.includes(undefined);
  return typeof type === 'string' && types.includes(kind === 'grant' ? type.toLowerCase() : type);
}
