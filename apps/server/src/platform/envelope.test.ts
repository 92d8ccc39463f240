import { createSecretKey, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { type MasterKey, type MasterKeys, newEnvelope, openEnvelope, type SealedFor } from './envelope.ts';

const masterKey = (id: string): MasterKey => ({ id, key: createSecretKey(randomBytes(32)) });
const keysOf = (...keys: MasterKey[]): MasterKeys => ({
  current: keys[0],
  find: (id) => keys.find((each) => each.id === id)?.key,
  ids: keys.map(({ id }) => id),
});

const owner: SealedFor = ['dev_1', 'user_42', 'github'];
const master = masterKey('first');

test('V1: a sealed value opens in its own place, and nowhere else', () => {
  const envelope = newEnvelope(master, owner);
  const sealed = envelope.seal('access_token', 'upstream ü');
  const openAs = (place: SealedFor, field: string) =>
    openEnvelope(keysOf(master), envelope.dataKey, place)?.open(field, sealed);

  expect(openAs(owner, 'access_token')).toBe('upstream ü');
  expect(openAs(owner, 'refresh_token')).toBeUndefined();
  expect(openAs(['dev_2', 'user_42', 'github'], 'access_token')).toBeUndefined();
  expect(openAs(['dev_1', 'user_43', 'github'], 'access_token')).toBeUndefined();
  expect(openAs(['dev_1', 'user_42', 'gitlab'], 'access_token')).toBeUndefined();
  expect(openAs(['dev_1', 'user_42","github', ''], 'access_token')).toBeUndefined();
});

test('V1: a value does not open under the data key of another row of the same names', () => {
  const [one, other] = [newEnvelope(master, owner), newEnvelope(master, owner)];

  expect(other.open('access_token', one.seal('access_token', 'upstream'))).toBeUndefined();
});

test('a data key does not open under another master key, nor under the name of another', () => {
  const [first, second] = [masterKey('first'), masterKey('second')];
  const { dataKey } = newEnvelope(first, owner);

  expect(openEnvelope(keysOf(second), dataKey, owner)).toBeUndefined();
  const renamed = dataKey.replace('first', 'second');
  expect(openEnvelope(keysOf({ ...first, id: 'second' }), renamed, owner)).toBeUndefined();
});

test('V2: every altered character of a sealed value is noticed', () => {
  const envelope = newEnvelope(master, owner);
  const sealed = envelope.seal('access_token', 'up');

  for (let at = 3; at < sealed.length - 1; at += 1) {
    const altered = `${sealed.slice(0, at)}${sealed[at] === 'A' ? 'B' : 'A'}${sealed.slice(at + 1)}`;
    expect(envelope.open('access_token', altered), altered).toBeUndefined();
  }
  for (const odd of ['', 'v1', 'v1..', 'v2.a.b', `v1.${'A'.repeat(16)}.`]) {
    expect(envelope.open('access_token', odd)).toBeUndefined();
  }
});

test('under another master key, fields stay sealed as they are', () => {
  const [former, current] = [masterKey('former'), masterKey('current')];
  const before = newEnvelope(former, owner);
  const sealed = before.seal('access_token', 'upstream');

  const after = before.under(current);

  expect(after.keyId).toBe('current');
  expect(openEnvelope(keysOf(current), after.dataKey, owner)?.open('access_token', sealed)).toBe('upstream');
  expect(openEnvelope(keysOf(current), before.dataKey, owner)).toBeUndefined();
});

test('V2: two seals of one text differ', () => {
  const envelope = newEnvelope(master, owner);
  const seals = Array.from({ length: 100 }, () => envelope.seal('access_token', 'upstream'));

  expect(new Set(seals).size).toBe(100);
});
