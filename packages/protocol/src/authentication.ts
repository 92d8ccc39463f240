/** A sign-in of a person, as tokens state it (RFC 9068 §2.2.1). */
export interface Authentication {
  /** In whole seconds. */
  readonly at: Date;
  /** Words of RFC 8176; empty where the provider has named none. */
  readonly methods: readonly string[];
}

const MAX_METHODS = 10;
const METHOD = /^[A-Za-z0-9_.:/-]{1,32}$/;

/** The claim `amr` of another party, as far as a token has room for it. */
export const methodsIn = (amr: unknown): string[] =>
  (Array.isArray(amr) ? amr : [])
    .filter((method): method is string => typeof method === 'string' && METHOD.test(method))
    .slice(0, MAX_METHODS);

/** @param ms in milliseconds since the epoch */
export const secondOf = (ms: number): Date => new Date(Math.floor(ms / 1000) * 1000);

/** The columns of an authentication. */
export const authenticationColumns = (known: Authentication | undefined) => ({
  authenticatedAt: known?.at ?? null,
  authMethods: known && known.methods.length > 0 ? [...known.methods] : null,
});

interface Columns {
  readonly authenticatedAt: Date | null;
  readonly authMethods: readonly string[] | null;
}

export const authenticationOf = ({ authenticatedAt, authMethods }: Columns): Authentication | undefined =>
  authenticatedAt === null ? undefined : { at: authenticatedAt, methods: authMethods ?? [] };
