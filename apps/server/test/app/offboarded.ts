import { createHash } from 'node:crypto';
import type { AuditEntry } from '@behest/protocol/audit-chain';
import {
  type OffboardingStatement,
  readOffboardingStatement,
  verifyOffboardingStatement,
} from '@behest/protocol/offboarding-statement';
import { verifySignature } from '../../src/features/service/keys/index.ts';
import { pagesOf } from './flow.ts';
import type { Developer, Service } from './start-app.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** The chain of an account, as it exports it. */
export const entriesOfAccount = async (acme: Developer): Promise<AuditEntry[]> =>
  (await pagesOf(acme, '/v1/audit/entries?limit=500', 'entries')).flat() as unknown as AuditEntry[];

/** Reads a statement as an auditor does. */
export async function readStatement(service: Service, jws: string): Promise<OffboardingStatement> {
  const issuer = service.settings.tokens.issuer;
  const keys = () => service.keyRing.verificationKeys();
  const read = await readOffboardingStatement(jws, { keys, verifySignature, issuer, now: service.clock() });
  if (!read.ok) throw new Error(read.reason);
  return read.statement;
}

export const verdictOn = (statement: OffboardingStatement, entries: readonly AuditEntry[]) =>
  verifyOffboardingStatement(statement, entries, sha256);
