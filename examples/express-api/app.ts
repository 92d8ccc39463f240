import type { Behest } from '@behest/sdk';
import { enforceTool, requireGrantToken, requireScopes } from '@behest/sdk/express';
import express, { type Express, type Request } from 'express';

const manifest = {
  connector: 'calendar',
  tools: {
    add_event: {
      permission: 'write',
      arguments: { '/title': { length: [1, 100] }, '/day': { prefix: ['2026-', '2027-'] } },
    },
  },
};

interface Settings {
  readonly behest: Behest;
  /** The address of the service. */
  readonly issuer: string;
  /** The account whose tokens are taken. All accounts of a service sign with the same keys. */
  readonly developerId: string;
  /** The address of this API, which its tokens name. */
  readonly audience: string;
  readonly allowSandbox?: boolean;
}

/** An API whose routes agents call in the name of people. */
export function calendarApi({ behest, issuer, ...settings }: Settings): Express {
  const events = new Map<string, { title: string; day: string }[]>();
  const eventsOf = (person: string) => events.get(person) ?? [];
  behest.loadManifest(manifest);

  const app = express();
  app.use(requireGrantToken({ jwksUri: `${issuer}/.well-known/jwks.json`, ...settings }));
  app.get(
    '/events',
    requireScopes('calendar:read'),
    (request: Request & { grant?: { principalId: string } }, response) => {
      response.json(eventsOf(request.grant?.principalId ?? ''));
    },
  );
  app.post(
    '/events',
    express.json(),
    enforceTool(behest, { connector: 'calendar', tool: 'add_event' }),
    (request: Request & { grant?: { principalId: string }; toolArguments?: unknown }, response) => {
      const person = request.grant?.principalId ?? '';
      const event = Object(request.toolArguments); // the copy that was checked
      events.set(person, [...eventsOf(person), event]);
      response.status(201).json(event);
    },
  );
  return app;
}
