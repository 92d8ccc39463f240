import { grantTo, partsOf } from './flow.ts';
import type { Call, Developer } from './start-app.ts';

const tools = { list: 'read', send: { permission: 'write', caps: { per_day: 7 } } };

/** An agent that may send seven mails a day, and a question of AuthZEN about one. */
export async function mailer(acme: Developer, grant: object = {}) {
  const manifest = { $schema: 'x', connector: 'acme_mail', version: '7', tools };
  await acme('PUT', '/v1/manifests/acme_mail', manifest);
  const granted = await grantTo(acme, { scopes: ['tool:acme_mail:write'], ...grant });
  const { jti } = partsOf(granted.grantToken).payload;
  const question = {
    subject: { type: 'token', id: String(jti) },
    action: { name: 'send' },
    resource: { type: 'connector', id: 'acme_mail' },
  };
  return { ...granted, jti: String(jti), question };
}

/** Asks, and reads the answer. */
export const askWith = (call: Call) => async (body: object) => {
  const answer = await call('POST', '/access/v1/evaluation', body);
  return { status: answer.statusCode, ...answer.json() };
};

export const askTogether = async (call: Call, body: object) => {
  const answer = await call('POST', '/access/v1/evaluations', body);
  return { status: answer.statusCode, ...answer.json() };
};

export const decisionsIn = ({ evaluations }: { evaluations: { decision: boolean }[] }) =>
  evaluations.map(({ decision }) => decision);

/** The units that a grant has used of the cap on mails. */
export const usedOf = async (acme: Developer, grantId: string) => {
  const query = `grantId=${grantId}&connector=acme_mail&tool=send`;
  const [counter] = (await acme('GET', `/v1/enforce/usage?${query}`)).json().counters;
  return counter?.used;
};
