import { describe, expect, test } from 'vitest';
import { type Eyes, fourEyesFault } from './decisions.rules.ts';

/** Two people who differ in everything. */
const eyes = (name: string): Eyes => ({
  approverId: `apv_${name}`,
  sub: `approver:${name}`,
  credential: `credential-${name}`,
  mailbox: `${name}@example.org`,
  isAssured: true,
  deviceHash: Buffer.from(name.padEnd(32)),
  sessionId: `cses_${name}`,
  isRequester: false,
});
const [ada, bob] = [eyes('ada'), eyes('bob')];
const { approverId, sub, credential, mailbox, deviceHash, sessionId } = ada;

describe('R10: two people', () => {
  test('differ in everything, in either order', () => {
    expect([fourEyesFault(ada, bob, false), fourEyesFault(bob, ada, false)]).toEqual([undefined, undefined]);
  });

  test.each<[string, Partial<Eyes>]>([
    ['person', { approverId }],
    ['sub', { sub }],
    ['credential', { credential }],
    ['email', { mailbox }],
    ['assurance', { isAssured: false }],
    ['device', { deviceHash }],
    ['device', { sessionId }],
    ['requester', { isRequester: true }],
  ])('are one by the check %s alone: %j', (check, same) => {
    const isOfSandbox = check === 'assurance' || check === 'device';
    const second = { ...bob, ...same };

    expect(fourEyesFault(ada, second, false)).toBe(check);
    expect(fourEyesFault(second, ada, false)).toBe(check);
    expect(fourEyesFault(ada, second, true)).toBe(isOfSandbox ? undefined : check);
  });
});
