import { Id, NextCursor, pageQuery, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

export type NewDomain = Static<typeof NewDomain>;
export const NewDomain = Type.Object(
  { domain: Type.String({ minLength: 1, maxLength: 512 }) },
  { additionalProperties: false },
);

const NullableTime = Type.Union([Time, Type.Null()]);

/** The record that proves the domain. */
const DnsRecord = Type.Object({ type: Type.Literal('TXT'), name: Type.String(), value: Type.String() });

const members = {
  id: Id,
  domain: Type.String(),
  verified: Type.Boolean(),
  status: Type.Enum(['pending', 'verified', 'lapsed']),
  verifiedAt: NullableTime,
  lastCheckedAt: NullableTime,
  createdAt: Time,
  dnsRecord: DnsRecord,
  /** Absent once the domain is verified. */
  verificationToken: Type.Optional(Type.String()),
};

export type Domain = Static<typeof Domain>;
export const Domain = Type.Object(members);

export type CreatedDomain = Static<typeof CreatedDomain>;
export const CreatedDomain = Type.Object({ ...members, instructions: Type.String() });

export const DomainPath = Type.Object({ id: Id });

export type DomainQuery = Static<typeof DomainQuery>;
export const DomainQuery = Type.Object(pageQuery('dom'));

export type DomainPage = Static<typeof DomainPage>;
export const DomainPage = Type.Object({ domains: Type.Array(Domain), nextCursor: NextCursor });

export type VerifiedDomain = Static<typeof VerifiedDomain>;
export const VerifiedDomain = Type.Object({ verified: Type.Literal(true), message: Type.String() });
