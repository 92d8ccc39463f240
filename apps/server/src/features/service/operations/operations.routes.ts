import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { AppError } from '../../../platform/errors.ts';
import { prefersHtml, sendPage } from '../../../platform/http/answers/plain-page.ts';
import { bearerOf } from '../../../platform/http/callers/credentials.ts';
import { buttonOf, type DevelopmentMailer, type Mail } from '../../../platform/mail/mailer.ts';
import {
  checkHealth,
  Health,
  Liveness,
  type MetricsDeps,
  mayScrape,
  type OperationsDeps,
} from './operations.ts';

export const operationsRoutes: FastifyPluginAsyncTypebox<OperationsDeps> = async (app, deps) => {
  app.get(
    '/health',
    {
      config: { access: 'none', rate: 'default', failures: [] },
      schema: {
        operationId: 'operations.health',
        summary: 'Read whether the service, its database and Redis work',
        response: { 200: Health, 503: Health },
      },
    },
    async (_request, reply) => {
      const health = await checkHealth(deps);
      return reply.code(health.status === 'ok' ? 200 : 503).send(health);
    },
  );

  app.get(
    '/livez',
    {
      config: { access: 'none', rate: 'default', failures: [] },
      schema: {
        operationId: 'operations.alive',
        summary: 'Read whether the process runs, without a look at its database or Redis',
        response: { 200: Liveness },
      },
    },
    async () => ({ status: 'ok' as const }),
  );
};

export const metricsRoutes: FastifyPluginAsyncTypebox<MetricsDeps> = async (app, deps) => {
  app.get(
    '/metrics',
    {
      config: { access: 'none', rate: 'default', failures: ['UNAUTHORIZED'] },
      schema: {
        operationId: 'operations.metrics',
        summary: 'Metrics of this process, in the text format of Prometheus',
        response: { 200: Type.String() },
      },
    },
    async (request, reply) => {
      const scraper = { socketAddress: request.socket.remoteAddress, token: bearerOf(request) };
      if (!mayScrape(deps, scraper)) {
        throw new AppError('UNAUTHORIZED', 'Send `Authorization: Bearer <METRICS_TOKEN>`.');
      }
      const { text, contentType } = await deps.metrics.expose();
      return reply.type(contentType).send(text);
    },
  );
};

/**
 * Shows the mails that are kept instead of sent, to people as a page. Never mounted in production, and not part of the
 * API.
 */
export const developmentMailRoutes: FastifyPluginAsyncTypebox<DevelopmentMailDeps> = async (
  app,
  { mails, publicBaseUrl },
) => {
  app.get(
    '/development/mail',
    {
      config: { access: 'none', rate: 'default', failures: [] },
      schema: {
        hide: true,
        operationId: 'operations.developmentMail',
        summary: 'List the mails that were kept instead of sent, newest first',
        response: { 200: Type.String() },
      },
    },
    async (request, reply) => {
      const sent = mails.sent();
      if (prefersHtml(request)) return sendPage(reply, mailPage(sent, publicBaseUrl));
      const texts = sent.map(({ to, subject, text }) => `To: ${to}\nSubject: ${subject}\n\n${text}\n`);
      return reply.type('text/plain; charset=utf-8').send(texts.join('\n--\n\n') || 'No mail yet.\n');
    },
  );
};

interface DevelopmentMailDeps {
  readonly mails: DevelopmentMailer;
  readonly publicBaseUrl: string;
}

const mailPage = (sent: readonly Mail[], base: string) => ({
  title: 'Mail of this development service',
  lead:
    sent.length === 0
      ? 'No mail yet. Mails that the service would send appear here.'
      : 'The last mails that the service would have sent, newest first.',
  cards: sent.map(({ to, subject, text, ...more }) => {
    const href = text.split('\n').find((line) => line.startsWith(`    ${base}/`));
    return {
      ...{ title: subject, about: `To ${to}`, text },
      ...(href !== undefined && { link: { label: buttonOf(more), href: href.trim() } }),
    };
  }),
});
