import type { Config } from './config.ts';
import type { OpenedFeature, ServiceContext } from './feature.ts';
import type { KeyRing } from './features/service/keys/index.ts';
import { catalogue, declaredMetrics, features } from './features.ts';
import { clientCharger, credentialCharger, recipientCharger } from './platform/charge.ts';
import type { Clock } from './platform/clock.ts';
import { type CommitNotices, commitNotices } from './platform/db/commit-effects.ts';
import type { Executor } from './platform/db/db.ts';
import { tenantErased } from './platform/db/personal-data.ts';
import { createEgress, tracedEgress } from './platform/egress/egress.ts';
import { AppError } from './platform/errors.ts';
import { listenersIn, on } from './platform/hooks.ts';
import { type Credentials, credentialNames } from './platform/http/callers/credentials.ts';
import { changePublisher, type KnownCallers, knownCallers } from './platform/http/callers/known-callers.ts';
import { eraseAnswers } from './platform/http/idempotency/answers.ts';
import { type ChargeRates, rateLimiter } from './platform/http/limits/rates.ts';
import { longWork } from './platform/long-work.ts';
import type { OpenedMailer } from './platform/mail/mailer.ts';
import { createParts } from './platform/parts.ts';
import type { EphemeralStore } from './platform/redis/ephemeral-store.ts';
import type { SealedRows } from './platform/seal.ts';
import type { Logger } from './platform/telemetry/logger.ts';
import { createMetrics, type Metrics } from './platform/telemetry/metrics.ts';
import type { Tracer } from './platform/telemetry/tracing.ts';

/** The operator's settings, without those that only start-up needs. */
type ServiceSettings = Pick<
  Config,
  | 'isProduction'
  | 'http'
  | 'database'
  | 'redisUrl'
  | 'tokens'
  | 'didWebDomain'
  | 'rateLimits'
  | 'quotas'
  | 'ofFeatures'
>;

export interface ServiceDeps extends OpenedMailer {
  readonly settings: ServiceSettings;
  readonly db: Executor;
  /** @see ServiceContext. The default is `db`. */
  readonly aside?: Executor;
  readonly store: EphemeralStore;
  readonly keyRing: KeyRing;
  readonly clock: Clock;
  readonly logger?: Logger;
  /** The metrics that `db` and `store` were opened with. The default is new ones, which see neither. */
  readonly metrics?: Metrics;
  readonly tracer?: Tracer | undefined;
  /** Carries the commits of `db`. Without it, live streams see commits within a second. */
  readonly notices?: CommitNotices;
  readonly isStopping?: () => boolean;
}

/** The context with its features at work. */
export interface OpenedService {
  readonly context: ServiceContext;
  readonly settings: ServiceSettings;
  readonly opened: readonly OpenedFeature[];
  readonly credentials: Credentials;
  readonly callers: KnownCallers;
  readonly charge: ChargeRates;
}

/** Opens every feature. Connects to nothing and starts nothing. */
export function openService(deps: ServiceDeps): OpenedService {
  const { settings, tracer, logger, store, db, clock, keyRing, mailer, development } = deps;
  const {
    metrics = createMetrics(declaredMetrics),
    notices = commitNotices(),
    aside = deps.db,
    isStopping = () => false,
  } = deps;
  const { issuer, maxGrantLifetimeSeconds, maxTtlSeconds } = settings.tokens;
  const callers = knownCallers(
    store,
    (hash) => credentials.developer(hash),
    clock,
    (isHit) => metrics.meter.cacheAsked('api_keys', isHit),
  );
  const charge = rateLimiter(
    store,
    clock,
    (err) => {
      metrics.meter.rateLimiterIsDegraded(err !== undefined);
      if (!err) return void logger?.info('requests are counted in redis again');
      callers.forgetAll();
      logger?.warn({ err }, 'requests are counted by this process alone');
    },
    metrics.meter.rateRefused,
    (isLeased) => metrics.meter.cacheAsked('rate_leases', isLeased),
  );
  const context: ServiceContext = {
    ...createParts(),
    db,
    aside,
    store,
    redisUrl: settings.redisUrl,
    clock,
    keyRing,
    catalogue,
    quotas: settings.quotas,
    chargeRecipient: recipientCharger(charge, settings.rateLimits),
    chargeCredential: credentialCharger(charge, settings.rateLimits),
    chargeClient: clientCharger(charge, settings.rateLimits),
    isProduction: settings.isProduction,
    hasDocs: settings.http.hasDocs,
    publicBaseUrl: settings.http.publicBaseUrl,
    issuer,
    didHost: settings.didWebDomain,
    lifetimes: { maxGrantLifetimeSeconds, maxTtlSeconds },
    metrics,
    notices,
    longWork: longWork(),
    publishChange: changePublisher(store, (err) => {
      callers.forgetAll();
      logger?.warn({ err }, 'redis was not told of a change: other processes may take ten seconds to see it');
    }),
    listenersOf: listenersIn([
      on(tenantErased, eraseAnswers),
      ...features.flatMap(({ listens = [] }) => listens),
    ]),
    isStopping,
    findKeyCaller: (hash) => credentials.developer(hash),
    isSessionGood: (browser) =>
      credentials.console(browser).then(
        () => true,
        (error: unknown) => {
          if (error instanceof AppError) return false;
          throw error;
        },
      ),
    openEgress(rules, bounds) {
      const egress = createEgress({ ...rules, ...bounds });
      return tracer ? tracedEgress(egress, tracer) : egress;
    },
    ...(logger && { logger }),
    ...(mailer && { mailer }),
    ...(development && { development }),
    tracer,
  };
  const opened = features.map((feature) => feature.open(context, settings.ofFeatures));
  const credentials = credentialsOf(opened);
  return { context, settings, opened, credentials, callers, charge };
}

/** Brings the stored rows of a feature in line with the keys and the settings. @throws an error that stops the start */
export async function prepareFeature(
  { sealed = [], prepare }: OpenedFeature,
  preparation: Parameters<SealedRows['prepare']>[0],
): Promise<void> {
  for (const rows of sealed) await rows.prepare(preparation);
  await prepare?.();
}

/** @throws Error when no feature reads a credential that routes may ask for */
function credentialsOf(opened: readonly OpenedFeature[]): Credentials {
  const all: Partial<Credentials> = Object.assign({}, ...opened.map((feature) => feature.credentials));
  const missing = credentialNames.filter((name) => !all[name]);
  if (missing.length > 0) throw new Error(`No feature reads the credentials ${missing.join(', ')}.`);
  return all as Credentials; // none is missing
}
