import canonicalize from 'canonicalize';

type Maybe<T> = T | null | undefined;

/** What an audit entry says, apart from its place in the chain. What it does not say is null in it. */
export interface AuditFacts {
  readonly id: string;
  readonly agentId?: Maybe<string>;
  readonly agentDid?: Maybe<string>;
  readonly grantId?: Maybe<string>;
  readonly principalId?: Maybe<string>;
  readonly developerId: string;
  readonly action: string;
  readonly metadata: object;
  readonly status: 'success' | 'failure' | 'blocked';
  readonly purpose?: Maybe<string>;
  /** 16 random bytes, base64url: whoever sees the hash cannot guess what is hidden from them. */
  readonly salt?: Maybe<string>;
}

/**
 * The line that is hashed, less its timestamp and the hash of the entry before, which are known only under
 * the lock of the chain's head. Both go between the parts: `<prefix><timestamp>","prevHash":<JSON><suffix>`.
 *
 * @throws when the metadata holds what JSON cannot: a number that is not finite, or half a surrogate pair
 * @see RFC 8785, by which the values are written; the order of the members is the line's own
 */
export function auditLineParts(facts: AuditFacts): { prefix: string; suffix: string } {
  const members = (...names: (keyof AuditFacts)[]) =>
    names.map((name) => `"${name}":${canonicalize(facts[name] ?? null)}`).join(',');
  const ids = members('id', 'agentId', 'agentDid', 'grantId', 'principalId', 'developerId');
  // An entry without a purpose has the hash it had before purposes existed.
  const optional = (['purpose', 'salt'] as const).filter((name) => facts[name] != null);
  const last = members('status', ...optional);
  return { prefix: `{${ids},${members('action', 'metadata')},"timestamp":"`, suffix: `,${last}}` };
}

/** For whoever checks the chain, from nothing but what the API answers. @throws as `auditLineParts` */
export function auditLine(entry: AuditFacts & { timestamp: string; prevHash: string | null }): string {
  const { prefix, suffix } = auditLineParts(entry);
  return `${prefix}${entry.timestamp}","prevHash":${JSON.stringify(entry.prevHash)}${suffix}`;
}
