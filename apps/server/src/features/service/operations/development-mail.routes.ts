import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { DevelopmentMailer } from '../../../platform/mail/development-mailer.ts';

/** Shows the mails that are kept instead of sent. Never mounted in production, and not part of the API. */
export const developmentMailRoutes: FastifyPluginAsyncTypebox<{ mails: DevelopmentMailer }> = async (
  app,
  { mails },
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
    async (_request, reply) => {
      const texts = mails
        .sent()
        .map(({ to, subject, text }) => `To: ${to}\nSubject: ${subject}\n\n${text}\n`);
      return reply.type('text/plain; charset=utf-8').send(texts.join('\n--\n\n') || 'No mail yet.\n');
    },
  );
};
