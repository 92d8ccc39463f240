import { type Caller, systemCaller, type Tenant } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import type { ReadTxt, TxtAnswer } from '../../../platform/egress/dns.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { recordActs } from '../../record/audit/index.ts';
import {
  claimDomain,
  findDomain,
  findHolderAcrossTenants,
  listUncheckedAcrossTenants,
  lockDomain,
  releaseDomain,
  updateDomain,
} from './domains.repo.ts';
import { checkedBefore, isLapsing, recordName } from './domains.rules.ts';
import type { VerifiedDomain } from './domains.schema.ts';
import type { DomainDeps } from './manage.ts';

export interface CheckDeps extends Pick<DomainDeps, 'db' | 'clock'> {
  readonly readTxt: ReadTxt;
}

interface Registered extends Tenant {
  readonly id: string;
  readonly domain: string;
  readonly token: string;
}

/**
 * Looks for the record. A domain belongs to the developer whose record stands in the DNS: when another developer's is
 * gone, its registration lapses.
 * @throws NOT_FOUND, VERIFICATION_FAILED, DOMAIN_CLAIMED
 */
export async function verifyDomain(deps: CheckDeps, caller: Caller, id: string): Promise<VerifiedDomain> {
  const { db, readTxt, clock } = deps;
  const found = await findDomain(db, caller.tenant, id);
  if (!found) throw notFound();
  if (found.status === 'verified') return verified(found.domain);
  const answer = await readTxt(recordName(found.domain));
  if (!holds(answer, found)) throw verificationFailed(found.domain, answer);
  await lapseForeignHolder(deps, caller, found.domain);

  const at = clock();
  return inTransaction(db, async (tx) => {
    const locked = await lockDomain(tx, caller.tenant, id);
    if (!locked) throw notFound();
    if (locked.status === 'verified') return verified(locked.domain);
    if (!(await claimDomain(tx, caller.tenant, id, locked.domain))) throw claimed();
    await updateDomain(tx, caller.tenant, id, {
      status: 'verified',
      verifiedAt: at,
      lastCheckedAt: at,
      missingSince: null,
    });
    const data = { domainId: id, domain: locked.domain };
    await recordActs(tx, caller, [{ type: 'domain.verified', data }], at);
    return verified(locked.domain);
  });
}

const verified = (domain: string): VerifiedDomain => ({ verified: true, message: `${domain} is verified.` });

const claimed = () =>
  new AppError('DOMAIN_CLAIMED', 'Another developer holds this domain, and its record still stands.');

const holds = (answer: TxtAnswer, { token }: Pick<Registered, 'token'>): boolean =>
  'texts' in answer && answer.texts.includes(token);

/** The answer shows no text of a record: a name may carry the secrets of others. */
function verificationFailed(domain: string, answer: TxtAnswer): AppError {
  const name = recordName(domain);
  const found = 'texts' in answer ? answer.texts.length : 0;
  const reason = 'failed' in answer ? 'no_answer' : found === 0 ? 'no_record' : 'other_value';
  const message = `No TXT record of ${name} has the value of the domain’s token; records may take hours to spread.`;
  return new AppError('VERIFICATION_FAILED', message, { name, found, reason });
}

/** @throws DOMAIN_CLAIMED when the other developer's record stands, or cannot be looked up */
async function lapseForeignHolder(
  { db, readTxt, clock }: CheckDeps,
  { tenant }: Caller,
  domain: string,
): Promise<void> {
  const holder = await findHolderAcrossTenants(db, domain);
  if (!holder || holder.developerId === tenant.developerId) return;
  const answer = await readTxt(recordName(domain));
  if (!('texts' in answer) || holds(answer, holder)) throw claimed();
  await lapse({ db, clock }, holder);
}

type Holder = NonNullable<Awaited<ReturnType<typeof findHolderAcrossTenants>>>;

async function lapse({ db, clock }: Pick<DomainDeps, 'db' | 'clock'>, holder: Holder): Promise<void> {
  const at = clock();
  const caller = systemCaller({ developerId: holder.developerId }, holder, 'domains');
  await inTransaction(db, async (tx) => {
    const locked = await lockDomain(tx, caller.tenant, holder.id);
    if (locked?.status !== 'verified') return;
    await releaseDomain(tx, caller.tenant, holder.id);
    await updateDomain(tx, caller.tenant, holder.id, { status: 'lapsed', lastCheckedAt: at });
    const data = { domainId: holder.id, domain: holder.domain };
    await recordActs(tx, caller, [{ type: 'domain.lapsed', data }], at);
  });
}

const BATCH = 50;

/**
 * Looks at verified domains again. Name servers that do not answer are no reason to lapse.
 * @returns 0 when no domain is left to check
 */
export async function checkDomains({ db, clock, readTxt }: CheckDeps): Promise<number> {
  const now = clock();
  const due = await listUncheckedAcrossTenants(db, checkedBefore(now), BATCH);
  for (const domain of due) {
    const answer = await readTxt(recordName(domain.domain));
    const isMissing = 'texts' in answer && !holds(answer, domain);
    const missingSince = isMissing ? (domain.missingSince ?? now) : domain.missingSince;
    if (isMissing && isLapsing(missingSince, now)) {
      await lapse({ db, clock }, domain);
      continue;
    }
    const stands = holds(answer, domain) ? { missingSince: null } : { missingSince };
    await inTransaction(db, (tx) =>
      updateDomain(tx, { developerId: domain.developerId }, domain.id, { lastCheckedAt: now, ...stands }),
    );
  }
  return due.length < BATCH ? 0 : due.length;
}
