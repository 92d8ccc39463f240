import { test } from 'vitest';
import { interleaving, type Side } from '../app/interleaving.ts';
import type { Developer } from '../app/start-app.ts';

const { race } = interleaving();
const manifest = (tools: object) => ({ $schema: 'x', connector: 'pay', version: '1', tools });

const nothing = async () => ({});
const first = async (acme: Developer) => {
  await acme('PUT', '/v1/manifests/pay', manifest({ list: 'read' }));
  return {};
};
const put =
  (tools: object) =>
  ({ acme }: Side) =>
    acme('PUT', '/v1/manifests/pay', manifest(tools));
const remove = ({ acme }: Side) => acme('DELETE', '/v1/manifests/pay');

/** The versions in order, without their times: each knows the one before by its pins. */
const look = async ({ acme }: Side) => {
  const { sha256, pins } = (await acme('GET', '/v1/manifests/pay')).json();
  return { sha256, pins };
};

test('two first manifests of a connector', () =>
  race({
    prepare: nothing,
    one: put({ list: 'read' }),
    other: put({ list: 'write' }),
    answers: ['201, 200', '200, 201'],
    look,
  }));
test('two new versions of a manifest', () =>
  race({
    prepare: first,
    one: put({ list: 'write' }),
    other: put({ list: 'admin', send: 'write' }),
    answers: ['200, 200'],
    look,
  }));
test('the same new version twice', () =>
  race({ prepare: first, one: put({ list: 'write' }), answers: ['200, 200'], look }));
test('a new version of a manifest, and its deletion', () =>
  race({
    prepare: first,
    one: put({ list: 'write' }),
    other: remove,
    answers: ['200, 204', '201, 204'],
    look,
  }));
test('two deletions of a manifest', () =>
  race({ prepare: first, one: remove, answers: ['204, 404 NOT_FOUND', '404 NOT_FOUND, 204'], look }));
