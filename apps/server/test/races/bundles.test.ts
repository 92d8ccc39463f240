import { test } from 'vitest';
import { interleaving, type Side } from '../app/interleaving.ts';
import type { Developer } from '../app/start-app.ts';

const { race } = interleaving();

const base64 = (text: string) => Buffer.from(text).toString('base64');
const bundle = { format: 'rego', version: '1', content: base64('one') };
const sync = ({ acme }: Side) => acme('POST', '/v1/policies/sync', bundle);

async function stored(acme: Developer) {
  const first = { ...bundle, version: '0' };
  const { bundleId } = (await acme('POST', '/v1/policies/sync', first)).json();
  await acme('POST', '/v1/policies/sync', { ...first, version: '0.1' });
  return { bundleId: String(bundleId) };
}

test('two syncs of a version with the same content', () =>
  race({ prepare: async () => ({}), one: sync, answers: ['201, 200', '200, 201'] }));
test('two syncs of a version with other content', () =>
  race({
    prepare: async () => ({}),
    one: sync,
    other: ({ acme }) => acme('POST', '/v1/policies/sync', { ...bundle, content: base64('two') }),
    answers: ['201, 409 CONFLICT', '409 CONFLICT, 201'],
  }));
test('an activation of a bundle, and a sync that activates another', () =>
  race({
    prepare: stored,
    one: ({ acme }, { bundleId }) => acme('POST', `/v1/policies/bundles/${bundleId}/activate`, {}),
    other: sync,
    answers: ['200, 201'],
  }));
test('two activations of a bundle', () =>
  race({
    prepare: stored,
    one: ({ acme }, { bundleId }) => acme('POST', `/v1/policies/bundles/${bundleId}/activate`, {}),
    answers: ['200, 200'],
  }));
test('two makings of the secret of Git notifications', () =>
  race({
    prepare: async () => ({}),
    one: ({ acme }) => acme('POST', '/v1/policies/sync/secret', {}),
    answers: ['201, 201'],
  }));
