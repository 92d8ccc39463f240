import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { sendPage } from '../../../platform/http/answers/plain-page.ts';
import type { SsoDeps } from './deps.ts';
import { takeDirectoryForm } from './directory.ts';
import { findFlight } from './flight.ts';
import { endsOfLogin, LOGIN_FAILURES } from './login.routes.ts';
import { CreatedSsoSession, DirectoryQuery, LdapLoginForm } from './login.schema.ts';
import { rates } from './sso.rates.ts';

const open = { access: 'none', errors: 'page' } as const;

/** The texts of the page. @public The check of the messages reads it. */
export const texts = {
  title: 'Sign in through your organisation',
  lead: 'Use the name and password of your account there.',
  button: 'Sign in',
  name: 'Name',
  password: 'Password',
  fault: 'This name and password do not belong together. Try again.',
};

const FIELDS = [
  { name: 'username', label: texts.name, type: 'text', autocomplete: 'username' },
  { name: 'password', label: texts.password, type: 'password', autocomplete: 'current-password' },
] as const;

/** The page where a person types the password of a directory, which has no page of its own. */
export const ssoDirectoryRoutes: FastifyPluginAsyncTypebox<SsoDeps> = async (app, deps) => {
  const { bringer, endedByForm } = endsOfLogin(deps);

  app.get(
    '/sso/ldap',
    {
      config: { ...open, rate: rates.ssoLogin, failures: [] },
      schema: {
        operationId: 'sso.directoryPage',
        summary: 'Show the page where a person types the password of a directory',
        querystring: DirectoryQuery,
        response: { 200: Type.String() },
      },
    },
    async (request, reply) => {
      const { state, failed } = request.query;
      await findFlight(deps, state, bringer(request).secrets); // refuses a login of another browser
      reply.header('cache-control', 'no-store');
      return sendPage(reply, {
        title: texts.title,
        lead: texts.lead,
        button: texts.button,
        fields: FIELDS,
        hidden: [['state', state]],
        fault: failed && texts.fault,
      });
    },
  );

  app.post(
    '/sso/ldap',
    {
      config: { ...open, rate: rates.ssoLdap, failures: LOGIN_FAILURES, takesForm: true },
      schema: {
        operationId: 'sso.directoryForm',
        summary: 'Take the name and password of a person from the page',
        description:
          'After a wrong password the browser is sent to the page again. Programs use `/sso/callback/ldap`.',
        body: LdapLoginForm,
        response: { 200: CreatedSsoSession, 302: Type.Null(), 303: Type.Null() },
      },
    },
    async (request, reply) => {
      const outcome = await takeDirectoryForm(deps, request.body, bringer(request));
      if (!('nextTry' in outcome)) return endedByForm(request, reply, outcome);
      return reply.header('cache-control', 'no-store').redirect(outcome.nextTry, 303);
    },
  );
};
