import type { GrantClaims } from './claims.ts';

/**
 * The developers whose grant tokens a verifier takes. All accounts of a service sign with the same keys, and anybody
 * may sign up, so that signature, issuer and audience show only that some account made a token.
 */
export type Developers =
  | {
      /** One id, or a list of 1 to 100. */
      readonly developerId: string | readonly string[];
      /** True to take tokens of sandbox accounts, which no person has approved. False when left out. */
      readonly allowSandbox?: boolean;
      readonly storedGrantDecides?: never;
    }
  | {
      /** Only for the service itself, which compares each token with the stored grant and its developer. */
      readonly storedGrantDecides: true;
      readonly developerId?: never;
      readonly allowSandbox?: never;
    };

/** Says why a verifier does not take a genuine token. */
export type Takes = (
  claims: Pick<GrantClaims, 'developerId' | 'sandbox'>,
) => 'developer_mismatch' | 'sandbox_not_allowed' | undefined;

const MAX_DEVELOPERS = 100;

/**
 * @throws TypeError without a developer
 * @throws RangeError when the list is empty or too long, or an id is empty
 */
export function developersOf({ developerId, allowSandbox, storedGrantDecides }: Developers): Takes {
  if (storedGrantDecides) return () => undefined;
  if (developerId === undefined || developerId === null) {
    throw new TypeError(
      'developerId is required: all accounts of a service sign with the same keys. Take yours from the answer to sign-up or from GET /v1/me.',
    );
  }
  const ids: ReadonlySet<unknown> = new Set([developerId].flat());
  const areIds = [...ids].every((id) => typeof id === 'string' && id !== '');
  if (ids.size === 0 || ids.size > MAX_DEVELOPERS || !areIds) {
    throw new RangeError(
      `developerId has to be the id of a developer, or a list of 1 to ${MAX_DEVELOPERS} ids.`,
    );
  }
  return (claims) => {
    if (!ids.has(claims.developerId)) return 'developer_mismatch';
    return claims.sandbox && allowSandbox !== true ? 'sandbox_not_allowed' : undefined;
  };
}
