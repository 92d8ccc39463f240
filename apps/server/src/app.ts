import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { addClosing, cutSlowReaders } from './platform/http/answers/connections.ts';
import { addErrorHandler } from './platform/http/answers/error-handler.ts';
import { ignoreExpectations, outermostAnswers } from './platform/http/answers/outermost.ts';
import { addReadyAnswers } from './platform/http/answers/ready-answers.ts';
import { addBodyParser } from './platform/http/bodies/bodies.ts';
import { compileSchema, compileSerializer } from './platform/http/bodies/schemas.ts';
import { addClientAddress } from './platform/http/callers/client-address.ts';
import { addBodyCapabilities } from './platform/http/callers/member.ts';
import {
  addIdempotency,
  FINGERPRINT_KEY_USE,
  IDEMPOTENCY_KEY_USE,
} from './platform/http/idempotency/idempotency.ts';
import { addHeavyReads } from './platform/http/limits/heavy-reads.ts';
import { addProposals } from './platform/http/loosening.ts';
import { addMetering, addRefusals } from './platform/http/refusals.ts';
import { addRequestPath, requestIdOf } from './platform/http/request-path.ts';
import { requireDeclarations } from './platform/http/routes/declarations.ts';
import { docsRoutes, openapiRoutes } from './platform/http/routes/docs.ts';
import { homeRoutes, pagePartRoutes } from './platform/http/routes/pages.ts';
import { createTails } from './platform/http/routes/tails.ts';
import { addRequestReport, addRequestTrace, answerReport } from './platform/http/telemetry.ts';
import { addUpgrades, isUpgrade } from './platform/http/upgrades.ts';
import { type Logger, RequestLog } from './platform/telemetry/logger.ts';
import type { OpenedService } from './service.ts';

/** Mounts the features on the platform. Returns an app that is ready and does not listen. */
export async function buildApp({
  context,
  settings,
  opened,
  credentials,
  callers,
  charge,
}: OpenedService): Promise<FastifyInstance> {
  const { db, clock, keyRing, logger, tracer, isProduction, publicBaseUrl } = context;
  const { meter } = context.metrics;
  const { http, rateLimits: limits } = settings;
  const tails = createTails();
  const app = Fastify({
    rewriteUrl: tails.rewriteUrl,
    ...(logger && {
      loggerInstance: logger as FastifyBaseLogger, // pino's own type makes another app type
      childLoggerFactory: (parent, bindings, options) => new RequestLog(parent as Logger, bindings, options),
    }),
    // The service writes a line of its own for each request.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'reqId' }),
    genReqId: requestIdOf,
    bodyLimit: http.bodyLimitBytes,
    routerOptions: { maxParamLength: 2048 }, // a DID; the schemas of other parameters allow less
    return503OnClosing: false, // an open connection still gets answers, `/health` a 503
    // Milliseconds for a whole request, and for its headers: a slow client holds a connection no longer.
    requestTimeout: 30_000,
    http: {
      maxHeaderSize: 32_768, // bytes: a link with a `state` of 8 KiB, each sign of it escaped
      headersTimeout: 20_000,
      connectionsCheckingInterval: 5_000,
      requireHostHeader: false,
      shouldUpgradeCallback: isUpgrade,
    },
    ...outermostAnswers(charge, limits, isProduction),
  });
  addClientAddress(app, http.trustProxy);
  app.setValidatorCompiler(compileSchema);
  app.setSerializerCompiler(compileSerializer);
  const paths = requireDeclarations(app);
  tails.addTo(app);
  const [propose] = opened.flatMap((each) => each.propose ?? []);
  addProposals(app, propose);
  addIdempotency(app, {
    db,
    clock,
    sealing: keyRing.derive(IDEMPOTENCY_KEY_USE),
    fingerprinting: keyRing.derive(FINGERPRINT_KEY_USE),
  });
  addBodyParser(app, http.bodyLimitBytes);
  addErrorHandler(app);
  addClosing(app, context.isStopping);
  ignoreExpectations(app);
  addUpgrades(app);
  cutSlowReaders(app);
  if (tracer) addRequestTrace(app, tracer);
  const counters = opened.flatMap(({ countUse }) => countUse ?? []);
  addMetering(app, (tenant, kind) => {
    for (const countUse of counters) countUse(tenant, kind);
  });
  const refusals = opened.flatMap(({ noteRefusal }) => noteRefusal ?? []);
  addRefusals(app, (tenant, refusal) => {
    for (const noteRefusal of refusals) noteRefusal(tenant, refusal);
  });
  addHeavyReads(app, settings.database.poolMax);
  const report = answerReport(meter, logger);
  addRequestReport(app, report);
  // A trace has a span for each request, which the usual way begins.
  if (!tracer) addReadyAnswers(app, { report, isProduction, isStopping: context.isStopping });
  addBodyCapabilities(app);
  addRequestPath(app, {
    charge,
    limits,
    paths,
    isProduction,
    corsAllowedOrigins: http.corsAllowedOrigins,
    ownOrigin: new URL(publicBaseUrl).origin,
    async servesHost(host) {
      for (const { servesHost } of opened) if (await servesHost?.(host)) return true;
      return false;
    },
    callers,
    credentials,
  });

  await app.register(openapiRoutes, { publicBaseUrl, hasDocs: http.hasDocs });
  if (http.hasDocs) await app.register(docsRoutes);
  await app.register(homeRoutes, { hasDocs: http.hasDocs });
  await app.register(pagePartRoutes);
  for (const { routes } of opened) await routes?.(app);
  await app.ready();
  return app;
}
