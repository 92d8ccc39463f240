import { test } from 'vitest';
import { interleaving, type Side } from '../app/interleaving.ts';
import { besideProvider } from '../app/signing-on.ts';
import type { Developer, Service } from '../app/start-app.ts';

const { race } = interleaving(besideProvider());

const create = (acme: Developer, name = 'Initech') =>
  acme('POST', '/v1/sso/setup-links', { name, purposes: ['scim'], acknowledge: 'all people of the account' });

const post = ({ app }: Service, step: string, payload: object) =>
  app.inject({ method: 'POST', url: `/setup/${step}`, payload });

async function linked(acme: Developer) {
  const { id, url } = (await create(acme)).json();
  return { id: String(id), link: new URL(String(url)).hash.slice('#link='.length) };
}

/** A link that a browser has opened. */
async function opened(acme: Developer, service: Service) {
  const { id, link } = await linked(acme);
  const { session } = (await post(service, 'open', { link })).json();
  return { id, session: String(session) };
}

const open = ({ service }: Side, { link }: { link: string }) => post(service, 'open', { link });
const revoke = ({ acme }: Side, { id }: { id: string }) => acme('DELETE', `/v1/sso/setup-links/${id}`);

test('two browsers that open one link', () =>
  race({ prepare: linked, one: open, answers: ['200, 404 NOT_FOUND', '404 NOT_FOUND, 200'] }));

test('a browser that opens a link, and its revocation', () =>
  race({ prepare: linked, one: open, other: revoke, answers: ['200, 204', '404 NOT_FOUND, 204'] }));

test('a token that a browser asks for, and the revocation of its link', () =>
  race({
    prepare: opened,
    one: ({ service }, { session }) => post(service, 'token', { session }),
    other: revoke,
    answers: ['200, 204', '404 NOT_FOUND, 204'],
  }));

test('two links for the last place', () =>
  race({
    prepare: async (acme, { db, clock }) => {
      const { id } = await linked(acme);
      const { developerId } = acme;
      const row = { name: 'Copy', purposes: ['scim'], linkHash: Buffer.from('x'), createdAt: clock() };
      const expiresAt = new Date(clock().getTime() + 60_000);
      const copies = Array.from({ length: 98 }, (_, at) => ({
        ...row,
        developerId,
        id: `${id}${at}`,
        expiresAt,
      }));
      await db.insertInto('setupLinks').values(copies).execute();
    },
    one: ({ acme }) => create(acme),
    answers: ['201, 409 CONFLICT', '409 CONFLICT, 201'],
  }));
