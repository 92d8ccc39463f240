import type { CreatedDomain, Domain } from './domains.schema.ts';

export interface DomainRow {
  readonly id: string;
  readonly domain: string;
  readonly token: string;
  readonly status: Domain['status'];
  readonly createdAt: Date;
  readonly verifiedAt: Date | null;
  readonly lastCheckedAt: Date | null;
}

export const recordName = (domain: string): string => `_behest-challenge.${domain}`;

export function toDomain(row: DomainRow): Domain {
  const { id, domain, status, token } = row;
  return {
    id,
    domain,
    verified: status === 'verified',
    status,
    verifiedAt: row.verifiedAt?.toISOString() ?? null,
    lastCheckedAt: row.lastCheckedAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    dnsRecord: { type: 'TXT', name: recordName(domain), value: token },
    ...(status !== 'verified' && { verificationToken: token }),
  };
}

export function toAddedDomain(row: DomainRow): CreatedDomain {
  const { name, value } = toDomain(row).dnsRecord;
  const instructions = `Add a TXT record named ${name} with the value ${value}, then verify the domain.`;
  return { ...toDomain(row), instructions };
}

const HOUR = 3_600_000;
/** Verified domains are looked at daily. */
const CHECKED_EVERY = 24 * HOUR;
const MISSING_FOR = 72 * HOUR;
const PENDING_FOR = 30 * 24 * HOUR;

export const checkedBefore = (now: Date): Date => new Date(now.getTime() - CHECKED_EVERY);
export const pendingSince = (now: Date): Date => new Date(now.getTime() - PENDING_FOR);

/** Whether a record that is missing now was missing at every check for so long that the domain lapses. */
export const isLapsing = (missingSince: Date | null, now: Date): boolean =>
  missingSince !== null && now.getTime() - missingSince.getTime() >= MISSING_FOR;
