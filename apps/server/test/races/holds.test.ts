import { test } from 'vitest';
import { interleaving, type Side } from '../app/interleaving.ts';

const { race } = interleaving();

const place = ({ acme }: Side) => acme('POST', '/v1/compliance/holds', { name: 'Case 7' });
const close = ({ acme }: Side) => acme('POST', '/v1/me/close', { confirm: acme.developerId });

test('a legal hold and the close of the account', () =>
  race({
    prepare: async () => ({}),
    one: place,
    other: close,
    answers: ['201, 409 CONFLICT', '401 UNAUTHORIZED, 202'],
  }));
test('two releases of a legal hold', () =>
  race({
    prepare: async (acme) => ({
      id: String((await acme('POST', '/v1/compliance/holds', { name: '7' })).json().id),
    }),
    one: ({ acme }, { id }) => acme('POST', `/v1/compliance/holds/${id}/release`, {}),
    answers: ['200, 200'],
  }));
