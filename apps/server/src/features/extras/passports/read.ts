import { canonicalJson } from '@behest/protocol/canonical-json';
import { parseJson } from '@behest/protocol/json';
import { decodeJwt } from 'jose';
import type { Caller } from '../../../platform/caller.ts';
import { notFound } from '../../../platform/errors.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import {
  credentialVerifier,
  findPlaced,
  PASSPORT_CREDENTIAL,
  revokeCredential,
  uriOf,
} from '../verifiable-credentials/index.ts';
import type { PassportDeps } from './issue.ts';
import { findPassport, listPassportRows, type PassportRow } from './passports.repo.ts';
import { credentialIdOf } from './passports.rules.ts';
import type { ListedPassport, Passport, PassportQuery, PassportVerification } from './passports.schema.ts';

/** @throws NOT_FOUND */
export async function getPassport(
  { db, clock }: PassportDeps,
  caller: Caller,
  passportId: string,
): Promise<Passport> {
  const row = await findPassport(db, caller, mustBeId(passportId));
  if (!row) throw notFound();
  return { ...credentialOf(row), status: statusOf(row, clock()) };
}

function mustBeId(passportId: string): string {
  const id = credentialIdOf(passportId);
  if (!id) throw notFound();
  return id;
}

/** The credential as it was issued: what the JWT says, without the claims of a JWT, and the proof. */
function credentialOf({ credential, proof }: Pick<PassportRow, 'credential' | 'proof'>) {
  const { iss: _, sub, jti, iat, exp, ...members } = decodeJwt<Omit<Passport, 'status'>>(credential);
  return { ...members, ...(proof !== null && { proof: Object(proof) }) };
}

const statusOf = ({ revokedAt, expiresAt }: PassportRow, now: Date) =>
  revokedAt ? 'revoked' : expiresAt <= now ? 'expired' : 'active';

/** The newest first. */
export async function listPassports({ db, clock }: PassportDeps, caller: Caller, query: PassportQuery) {
  const now = clock();
  const rows = await listPassportRows(db, caller, query, now);
  return pageOf(rows, byId, (row): ListedPassport => {
    const { id, agentId, grantId, expiresAt, issuedAt } = row;
    return {
      passportId: uriOf(PASSPORT_CREDENTIAL, id),
      ...{ agentId, grantId, status: statusOf(row, now) },
      expiresAt: expiresAt.toISOString(),
      createdAt: issuedAt.toISOString(),
    };
  });
}

/** Revokes a passport and those below it. A repeated call changes nothing. @throws NOT_FOUND */
export async function revokePassport(deps: PassportDeps, caller: Caller, passportId: string) {
  const id = mustBeId(passportId);
  if (!(await findPassport(deps.db, caller, id))) throw notFound();
  const { revokedAt } = await revokeCredential(deps, caller, id, undefined);
  return { revoked: true as const, revokedAt };
}

/** Says of a passport, as a JWT or as encoded JSON, whether it is genuine and good now. It always answers. */
export function passportVerifier(deps: PassportDeps) {
  const verify = credentialVerifier(deps);
  return async (passport: string): Promise<PassportVerification> => {
    const token = passport.includes('.') ? passport : await tokenOf(deps, passport);
    if (token === undefined) return BAD;
    const { valid, credentialType, error, code, payload, subject, expiresAt } = await verify(token);
    if (payload && credentialType !== PASSPORT_CREDENTIAL) return OTHER;
    const { id: passportId, credentialSubject } = Object(payload);
    const { grantId, allowedMPPCategories, maxTransactionAmount } = Object(credentialSubject);
    return {
      valid,
      ...(payload && {
        ...(subject !== undefined && { agentDid: subject }),
        ...{ passportId, grantId, categories: allowedMPPCategories, maxTransactionAmount },
        ...(expiresAt !== undefined && { expiresAt }),
      }),
      ...(code !== undefined && { error, code }),
    };
  };
}

const BAD: PassportVerification = {
  valid: false,
  error: 'The service did not issue this text.',
  code: 'bad_signature',
};
const OTHER: PassportVerification = {
  valid: false,
  error: 'The token is of another kind.',
  code: 'typ_not_allowed',
};

/** The JWT of a passport whose JSON is, member by member, as it was issued. The proof in it is part of that. */
async function tokenOf(deps: PassportDeps, encoded: string): Promise<string | undefined> {
  const shown = readEncoded(encoded);
  const { credentialStatus } = Object(shown);
  const stored = await findPlaced(deps, credentialStatus);
  if (!stored) return undefined;
  const { id, developerId, credential } = stored;
  const row = await findPassport(deps.db, { tenant: { developerId }, agentIds: null }, id);
  if (!row || canonicalJson(credentialOf(row)) !== canonicalJson(shown)) return undefined;
  return credential;
}

function readEncoded(encoded: string): object {
  try {
    return Object(parseJson(Buffer.from(encoded, 'base64url')));
  } catch {
    return {}; // whatever is wrong with a text from outside
  }
}
