import canonicalize from 'canonicalize';

type Maybe<T> = T | null | undefined;

/** The content of an audit entry, without its position in the chain. An absent member is null in the line. */
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
  /** 16 random bytes in base64url, so that a reader of the hash cannot guess members hidden from that reader. */
  readonly salt?: Maybe<string>;
}

/**
 * Makes the line that is hashed, in two parts. The timestamp and the hash of the entry before are known only under
 * the lock of the chain's head, and go between the parts: `<prefix><timestamp>","prevHash":<JSON><suffix>`.
 *
 * @throws Error when the metadata holds a number that is not finite, or half a surrogate pair
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

/**
 * Makes the line of an entry that has its position. SHA-256 of the line's UTF-8 is the entry's `hash`.
 *
 * @throws Error as `auditLineParts`
 */
export function auditLine(entry: AuditFacts & { timestamp: string; prevHash: string | null }): string {
  const { prefix, suffix } = auditLineParts(entry);
  return `${prefix}${entry.timestamp}","prevHash":${JSON.stringify(entry.prevHash)}${suffix}`;
}
