import { NoFields } from '@behest/protocol/shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import {
  type AnomalyDeps,
  acknowledgeAlert,
  getAlert,
  getMetrics,
  listAlerts,
  listAnomalies,
  resolveAlert,
  toAlert,
  toAnomaly,
} from './alerts.ts';
import {
  Alert,
  AlertNote,
  AlertPage,
  AlertPath,
  AlertQuery,
  Anomaly,
  AnomalyDetection,
  AnomalyMetrics,
  AnomalyPage,
  AnomalyPath,
  AnomalyQuery,
  MetricsQuery,
} from './anomalies.schema.ts';
import { detectNow } from './detect.ts';

export const rates = rateRules({
  anomalyWrite: {
    perMinute: 30,
    describes: 'detecting anomalies, and writing rules and channels, by developer',
    counts: [{ by: 'developer' }],
  },
  anomalyConfirm: {
    perMinute: 20,
    describes:
      'opening and using a link that asks a recipient of messages about anomalies, by client address',
    counts: [{ by: 'address' }],
  },
});

const owner = { access: 'developer', role: 'full', rate: 'default', failures: [] } as const;
const ofAlert = { ...owner, failures: ['NOT_FOUND', 'CONFLICT'] } as const;

export const anomalyRoutes: FastifyPluginAsyncTypebox<AnomalyDeps> = async (app, deps) => {
  app.post(
    '/v1/anomalies/detect',
    {
      config: { ...owner, capability: 'operate', rate: rates.anomalyWrite },
      schema: {
        operationId: 'anomalies.detect',
        summary: 'Detect anomalies now',
        description: 'The answer has what is true now, whether it was found before or not.',
        body: NoFields,
        response: { 200: AnomalyDetection },
      },
    },
    (request) => detectNow(depsFor(request, deps), callerOf(request)),
  );

  app.get(
    '/v1/anomalies',
    {
      config: { ...owner, capability: 'read' },
      schema: {
        operationId: 'anomalies.list',
        summary: 'List anomalies, newest first',
        description: '`total` counts the open ones.',
        querystring: AnomalyQuery,
        response: { 200: AnomalyPage },
      },
    },
    (request) => listAnomalies(deps, callerOf(request), request.query),
  );

  app.patch(
    '/v1/anomalies/:id/acknowledge',
    {
      config: { ...ofAlert, capability: 'operate' },
      schema: {
        operationId: 'anomalies.acknowledge',
        summary: 'Acknowledge an anomaly',
        params: AnomalyPath,
        body: AlertNote,
        response: { 200: Anomaly },
      },
    },
    async (request) => {
      const { params, body } = request;
      return toAnomaly(await acknowledgeAlert(depsFor(request, deps), callerOf(request), params.id, body));
    },
  );

  app.get(
    '/v1/anomaly/alerts',
    {
      config: { ...owner, capability: 'read' },
      schema: {
        operationId: 'anomalies.alerts',
        summary: 'List alerts, newest first',
        querystring: AlertQuery,
        response: { 200: AlertPage },
      },
    },
    (request) => listAlerts(deps, callerOf(request), request.query),
  );

  app.get(
    '/v1/anomaly/alerts/:alertId',
    {
      config: { ...owner, capability: 'read', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'anomalies.getAlert',
        summary: 'Read an alert',
        params: AlertPath,
        response: { 200: Alert },
      },
    },
    (request) => getAlert(deps, callerOf(request), request.params.alertId),
  );

  for (const [word, act] of [
    ['acknowledge', acknowledgeAlert],
    ['resolve', resolveAlert],
  ] as const) {
    app.post(
      `/v1/anomaly/alerts/:alertId/${word}`,
      {
        config: { ...ofAlert, capability: 'operate' },
        schema: {
          operationId: `anomalies.${word}Alert`,
          summary: word === 'resolve' ? 'Resolve an alert' : 'Acknowledge an alert',
          params: AlertPath,
          body: AlertNote,
          response: { 200: Alert },
        },
      },
      async (request) => {
        const { params, body } = request;
        return toAlert(await act(depsFor(request, deps), callerOf(request), params.alertId, body));
      },
    );
  }

  app.get(
    '/v1/anomaly/metrics',
    {
      config: { ...owner, capability: 'read' },
      schema: {
        operationId: 'anomalies.metrics',
        summary: 'Count alerts by status, severity and rule',
        querystring: MetricsQuery,
        response: { 200: AnomalyMetrics },
      },
    },
    (request) => getMetrics(deps, callerOf(request), request.query),
  );
};
