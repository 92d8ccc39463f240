import { Behest } from '@behest/sdk';
import { requireGrantToken, requireScopes } from '@behest/sdk/express';
import express from 'express';

/** Makes the API. Requests need a grant token of this account with the scope of their route. */
export async function newApp() {
  const { BEHEST_URL = 'http://localhost:3001' } = process.env;
  const { developerId } = await new Behest().me(); // all accounts of a service sign with the same keys
  const guard = requireGrantToken({
    jwksUri: `${BEHEST_URL}/.well-known/jwks.json`,
    developerId,
    allowSandbox: true, // leave this out in production: in a sandbox no person has consented
  });
  const app = express();
  app.get('/calendar', guard, requireScopes('calendar:read'), (request, response) => {
    response.json({ owner: request.grant.principalId, events: ['stand-up at 9'] });
  });
  return app;
}

if (process.argv[1] === new URL(import.meta.url).pathname)
  (await newApp()).listen(Number(process.env.PORT ?? 3000));
