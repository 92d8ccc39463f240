import type { Readable } from 'node:stream';
import type { ProxyRule } from '@behest/protocol/proxy-rules';
import { concerning } from '../../../platform/acts.ts';
import type { GrantHolder } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import { listDetailsAbove } from '../../grants/grants/grants.queries.ts';
import { recordBlockedAttempt } from '../../record/audit/index.ts';
import {
  findStoredCredential,
  isForProxyOnly,
  type LendDeps,
  mustBeConnected,
  notStored,
  type StoredRow,
  storedProxy,
} from '../credentials/index.ts';
import type { SentBody } from './body.ts';
import { allowedBy, asksForRange, mayUseRule, type RuleRefusal, refusalByCredential } from './match.rules.ts';
import { findCallableProfile } from './profile.repo.ts';
import { storedProfile } from './profile.ts';
import type { NewProxyProfile } from './proxy.schema.ts';
import type { Framing, SentHeaders } from './request.rules.ts';
import { type Target, withoutParameter } from './target.rules.ts';

/** The things that a request asks for. */
export interface Wanted {
  readonly service: string;
  readonly method: string;
  /** The alias that the agent named, if it did. */
  readonly upstream: string | undefined;
  readonly target: Target;
}

/** A request that the rules allow. */
export interface Plan {
  readonly profile: NewProxyProfile;
  readonly profileVersion: number;
  readonly upstream: string;
  readonly origin: string;
  readonly rule: ProxyRule;
  readonly named: Readonly<Record<string, string>>;
  readonly row: StoredRow;
  /** The agent's, without the parameter that carries the credential. */
  readonly target: Target;
  /** Whether the rules ask for `Range`. Never for a credential that no agent may see. */
  readonly mayRange: boolean;
}

/** A request of an agent, as it came. */
export interface ProxyRequest {
  readonly service: string;
  readonly method: string;
  /** The path at the upstream with its query, as it was sent, without the slash at its beginning. */
  readonly tail: string;
  /** Names and values in turns, as Node has them. */
  readonly rawHeaders: readonly string[];
  readonly grantToken: string;
  readonly body: Readable;
  /** Aborted when the agent has gone. */
  readonly gone: AbortSignal;
}

/** A request that the rules allow, with its body. */
export interface ReadyCall {
  readonly request: ProxyRequest;
  readonly headers: SentHeaders;
  readonly framing: Framing;
  readonly matchedScope: string;
  readonly plan: Plan;
  readonly body: SentBody;
}

/** Looks at the profile, the grant and the credential, in this order. @throws PROXY_DENIED, NOT_FOUND, REAUTHORIZATION_REQUIRED */
export async function planOf(deps: LendDeps, holder: GrantHolder, wanted: Wanted): Promise<Plan> {
  const { service, target: sent } = wanted;
  const [found, row] = await Promise.all([
    findCallableProfile(deps.db, holder.tenant, service),
    findStoredCredential(deps, holder, service),
  ]);
  if (!found) throw await denied(deps, holder, service, 'no_profile');
  const profile = storedProfile(found);
  const [first = ''] = Object.keys(profile.upstreams);
  const upstream = wanted.upstream ?? first;
  const origin = Object.hasOwn(profile.upstreams, upstream) ? profile.upstreams[upstream] : undefined;
  if (origin === undefined) throw await denied(deps, holder, service, 'no_rule');
  // The parameter that carries the credential is the service's own, and never the agent's.
  const { inject } = profile;
  const isInQuery = inject.style === 'query';
  const target = isInQuery ? { ...sent, query: withoutParameter(sent.query, inject.name) } : sent;
  const ruled = { method: wanted.method, upstream, target };
  const allowed = allowedBy(profile.rules, ruled);
  if (typeof allowed === 'string') throw await denied(deps, holder, service, allowed);
  const { rule, named } = allowed;
  if (!mayUseRule(rule, holder.authorizationDetails, await detailsAbove(deps, holder))) {
    throw await denied(deps, holder, service, 'unmapped');
  }
  if (!row) {
    await block(deps, holder, { service, reason: 'not_found' });
    throw await notStored(deps, holder.tenant, service);
  }
  const refusal = refusalByCredential(storedProxy(row), ruled, { rule, origin });
  if (refusal !== undefined) throw await denied(deps, holder, service, refusal);
  await mustBeConnected(deps, holder, { row, service });
  const mayRange =
    asksForRange(rule, storedProxy(row), ruled) &&
    !(row.isProxyOnly || isForProxyOnly(row) || profile.exchange === 'proxy_only');
  return { profile, profileVersion: found.version, upstream, origin, rule, named, row, target, mayRange };
}

const detailsAbove = ({ db }: LendDeps, { tenant, grantId, parentGrantId }: GrantHolder) =>
  parentGrantId === null ? [] : listDetailsAbove(db, tenant, grantId);

const SENTENCES: Readonly<Record<RuleRefusal, string>> = {
  no_profile: 'The service has no proxy.',
  no_rule: 'No rule of the service allows this request.',
  query: 'The rule for this request does not allow a parameter of its query.',
  unmapped: 'The grant is limited to tools, and this request stands for none that it names.',
  origin: 'The credential was stored before the service named this upstream. It has to be stored again.',
};

async function denied(deps: LendDeps, holder: GrantHolder, service: string, reason: RuleRefusal) {
  await block(deps, holder, { service, reason });
  return new AppError('PROXY_DENIED', SENTENCES[reason], { reason });
}

interface Blocked {
  readonly service: string;
  readonly reason: RuleRefusal | 'scope' | 'not_found' | 'enforcement' | 'credential_reflected';
}

/** Records that a request was refused, or an answer cut. */
export function block(
  { db, clock }: Pick<LendDeps, 'db' | 'clock'>,
  holder: GrantHolder,
  data: Blocked,
): Promise<void> {
  const attempt = { action: 'vault.proxy_blocked', about: concerning(holder), data: { ...data } } as const;
  return inTransaction(db, (tx) => recordBlockedAttempt(tx, holder, attempt, clock()));
}
