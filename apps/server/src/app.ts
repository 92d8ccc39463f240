import cookie from '@fastify/cookie';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Config } from './config.ts';
import {
  authorizationRoutes,
  cancelRequestsOfAgent,
  countOverdue,
} from './features/access/authorization/index.ts';
import { grantRoutes, revokeGrantsOfAgent } from './features/access/grants/index.ts';
import { tokenRoutes } from './features/access/tokens/index.ts';
import { agentRoutes } from './features/accounts/agents/index.ts';
import { apiKeyRoutes, developerRoutes, findKeyHolder } from './features/accounts/developers/index.ts';
import { authenticateConsent, consentRoutes } from './features/people/consent/index.ts';
import { principalRoutes, sessionReader } from './features/people/principals/index.ts';
import { auditRoutes } from './features/record/audit/index.ts';
import { eventRoutes } from './features/record/events/index.ts';
import { countPending, webhookRoutes, webhookSeals } from './features/record/webhooks/index.ts';
import { type KeyRing, keyRoutes } from './features/service/keys/index.ts';
import {
  developmentMailRoutes,
  metricsRoutes,
  operationsRoutes,
} from './features/service/operations/index.ts';
import type { Clock } from './platform/clock.ts';
import { type CommitNotices, commitNotices } from './platform/db/commit-notices.ts';
import type { Executor } from './platform/db/db.ts';
import { addClosing } from './platform/http/answers/closing.ts';
import { addErrorHandler } from './platform/http/answers/error-handler.ts';
import { ignoreExpectations } from './platform/http/answers/expectations.ts';
import { outermostAnswers } from './platform/http/answers/outermost.ts';
import { addBodyParser } from './platform/http/bodies/bodies.ts';
import { compileSerializer } from './platform/http/bodies/serialization.ts';
import { compileSchema } from './platform/http/bodies/validation.ts';
import { knownCallers, notingChanges } from './platform/http/callers/known-callers.ts';
import { addIdempotency } from './platform/http/idempotency/idempotency.ts';
import { rateLimiter } from './platform/http/limits/rates.ts';
import { addRequestPath, requestIdOf } from './platform/http/request-path.ts';
import { requireDeclarations } from './platform/http/routes/declarations.ts';
import { describeRoutes, openapiRoutes } from './platform/http/routes/openapi.ts';
import { pagePartRoutes } from './platform/http/routes/pages.ts';
import { addRequestLog, addRequestMetrics } from './platform/http/telemetry/request-log.ts';
import { addRequestTrace } from './platform/http/telemetry/request-trace.ts';
import { addUpgrades, isUpgrade } from './platform/http/upgrades.ts';
import type { OpenedMailer } from './platform/mail/open-mailer.ts';
import type { EphemeralStore } from './platform/redis/ephemeral-store.ts';
import type { Logger } from './platform/telemetry/logger.ts';
import { createMetrics, type Metrics } from './platform/telemetry/metrics.ts';
import type { Tracer } from './platform/telemetry/tracer.ts';

/** What the operator decided, less what only start-up needs. */
export type AppSettings = Pick<
  Config,
  | 'isProduction'
  | 'metricsToken'
  | 'http'
  | 'tokens'
  | 'signupMode'
  | 'principalProof'
  | 'defaultPlan'
  | 'didWebDomain'
  | 'rateLimits'
  | 'quotas'
  | 'webhooks'
>;

export interface AppDeps extends OpenedMailer {
  readonly settings: AppSettings;
  readonly db: Executor;
  readonly store: EphemeralStore;
  readonly keyRing: KeyRing;
  readonly clock: Clock;
  readonly logger?: Logger;
  /** The one that `db` and `store` were opened with; by default one that only the app itself tells of. */
  readonly metrics?: Metrics;
  readonly tracer?: Tracer | undefined;
  /** What `db` tells of its commits; without it, live streams notice them within a second. */
  readonly notices?: CommitNotices;
  readonly isStopping?: () => boolean;
  /** Tells who delivers webhooks that there is something to deliver, where no event does. */
  readonly wakeDeliveries?: () => void;
}

/** Wires features to platform. Returns an app that is ready and does not listen. */
export async function buildApp(deps: AppDeps): Promise<FastifyInstance> {
  const { settings, db, store, keyRing, clock, logger, mailer, isStopping = () => false } = deps;
  const { http, tokens, quotas, rateLimits: limits, isProduction } = settings;
  const { metrics = createMetrics(), notices = commitNotices() } = deps;
  const { meter } = metrics;
  const { publicBaseUrl } = http;
  const { issuer, maxGrantLifetimeSeconds, maxTtlSeconds } = tokens;
  const callers = knownCallers(
    store,
    (hash) => findKeyHolder({ db, clock }, hash),
    clock,
    (isHit) => meter.cacheAsked('api_keys', isHit),
  );
  const noteChange = notingChanges(store, (err) => {
    callers.forgetAll();
    logger?.warn({ err }, 'redis was not told of a change: other processes may take ten seconds to see it');
  });
  const onDegraded = (err?: unknown) => {
    meter.rateLimiterIsDegraded(err !== undefined);
    if (!err) return void logger?.info('requests are counted in redis again');
    callers.forgetAll();
    logger?.warn({ err }, 'requests are counted by this process alone');
  };
  const limiter = rateLimiter(store, clock, onDegraded, meter.rateRefused);
  const { spend } = limiter;

  const app = Fastify({
    ...(logger && { loggerInstance: logger as FastifyBaseLogger }), // pino's own type makes another app type
    // Our own line says what the specification names, under its names.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'reqId' }),
    genReqId: requestIdOf,
    bodyLimit: http.bodyLimitBytes,
    trustProxy: trusted(http.trustProxy),
    routerOptions: { maxParamLength: 256 },
    return503OnClosing: false, // what still arrives on an open connection is answered, `/health` with 503
    // Milliseconds for a whole request to arrive, its headers before that; a slow client holds nothing longer.
    requestTimeout: 30_000,
    http: {
      headersTimeout: 20_000,
      connectionsCheckingInterval: 5_000,
      requireHostHeader: false,
      shouldUpgradeCallback: isUpgrade,
    },
    ...outermostAnswers(spend, limits, isProduction),
  });
  app.setValidatorCompiler(compileSchema);
  app.setSerializerCompiler(compileSerializer);
  addIdempotency(app, { db, clock, sealing: keyRing.derive('behest/idempotency-seal/v1') });
  addBodyParser(app);
  addErrorHandler(app, http.bodyLimitBytes);
  addClosing(app, isStopping);
  ignoreExpectations(app);
  addUpgrades(app);
  if (deps.tracer) addRequestTrace(app, deps.tracer);
  if (logger) addRequestLog(app);
  addRequestMetrics(app, meter);
  const paths = requireDeclarations(app);
  await app.register(cookie);
  await describeRoutes(app, publicBaseUrl);
  addRequestPath(app, {
    spend,
    limits,
    paths,
    isProduction,
    corsAllowedOrigins: http.corsAllowedOrigins,
    ownOrigin: new URL(publicBaseUrl).origin,
    callers,
    consent: authenticateConsent({ store, keyRing, publicBaseUrl }),
    session: sessionReader({ clock, keyRing, issuer }),
  });

  const lifetimes = { maxGrantLifetimeSeconds, maxTtlSeconds };
  const { signupMode, defaultPlan, principalProof, didWebDomain: didHost } = settings;
  const authorization = { db, store, clock, lifetimes, quotas, publicBaseUrl, principalProof };
  const onAgentRevoked = [revokeGrantsOfAgent, cancelRequestsOfAgent];
  metrics.ask(
    'authorization_requests_overdue',
    'Authorization requests whose time is over and whose end has not been recorded yet, up to 1000.',
    () => countOverdue({ db, clock }),
  );
  metrics.ask(
    'webhook_deliveries_pending',
    'Deliveries to webhooks that are not final yet, up to 10000.',
    () => countPending({ db }),
  );
  await app.register(operationsRoutes, { db, store, isStopping });
  await app.register(metricsRoutes, { metrics, isProduction, metricsToken: settings.metricsToken });
  if (deps.development) await app.register(developmentMailRoutes, { mails: deps.development });
  await app.register(openapiRoutes);
  await app.register(keyRoutes, { keyRing, didHost, publicBaseUrl });
  await app.register(developerRoutes, { db, clock, signupMode, defaultPlan, canMail: mailer !== undefined });
  await app.register(apiKeyRoutes, { db, clock, noteChange });
  await app.register(agentRoutes, { db, clock, didHost, publicBaseUrl, quotas, onAgentRevoked });
  await app.register(authorizationRoutes, authorization);
  await app.register(consentRoutes, { ...authorization, keyRing, issuer, ...(mailer && { mailer }) });
  await app.register(tokenRoutes, { db, store, clock, keyRing, quotas, ...tokens });
  await app.register(grantRoutes, { db, clock });
  await app.register(eventRoutes, {
    db,
    store,
    clock,
    meter,
    notices,
    isKeyGood: async (hash) => (await findKeyHolder({ db, clock }, hash)) !== undefined,
    onTrouble: (err) => logger?.warn({ err }, 'live streams wait: what they ask for is not answered'),
  });
  await app.register(pagePartRoutes);
  await app.register(principalRoutes, { db, clock, keyRing, issuer, publicBaseUrl });
  await app.register(auditRoutes, { db, clock, keyRing, quotas, meter });
  await app.register(webhookRoutes, {
    db,
    clock,
    quotas,
    urlRules: {
      allowsHttp: !isProduction,
      allowsPrivateHosts: settings.webhooks.allowsPrivateHosts,
    },
    maxAttempts: settings.webhooks.maxAttempts,
    seals: webhookSeals(keyRing),
    wake: deps.wakeDeliveries ?? (() => {}),
  });
  await app.ready();
  return app;
}

/** A number of hops as the function that Fastify's types have in its place. */
function trusted(setting: AppSettings['http']['trustProxy']) {
  return typeof setting === 'number' ? (_address: string, hop: number) => hop < setting : setting;
}
