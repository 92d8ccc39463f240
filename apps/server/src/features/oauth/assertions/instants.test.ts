import { expect, test } from 'vitest';
import { startAsserting, told, trustingDeveloper } from '../../../../test/app/asserting.ts';

/** A developer with a rule, and a clock that stops on both sides of an instant: a millisecond before it, and at it. */
async function startAt(rule: object) {
  const { service, provider } = await startAsserting();
  const own = await trustingDeveloper(service, provider, { rule });
  const began = service.clock().getTime();
  const moveTo = (milliseconds: number) =>
    service.advance((began + milliseconds - service.clock().getTime()) / 1000);
  async function around<Said>(seconds: number, say: () => Promise<Said>): Promise<Said[]> {
    moveTo(seconds * 1000 - 1);
    expect(service.clock().getTime()).toBe(began + seconds * 1000 - 1);
    const before = await say();
    moveTo(seconds * 1000);
    return [before, await say()];
  }
  return { ...own, provider, around };
}

test('an assertion is taken until the instant that it names as its end', async () => {
  const { assertion, show, around } = await startAt({});
  const made = [await assertion(), await assertion()]; // each is taken once, and ends after 300 s

  const said = await around(300, async () => told(await show(made.pop() ?? '')));

  expect(said).toEqual(['200', 'invalid_grant expired']);
});

test('a sign-in is young enough until it is older than the rule says', async () => {
  const { outcome, around, provider } = await startAt({ maxAuthAgeSeconds: 60 });
  const claims = { auth_time: provider.seconds() - 1 };

  // A millisecond later the sign-in is older than a minute.
  expect(await around(59.001, () => outcome({ claims }))).toEqual(['200', 'invalid_grant authentication']);
});

test('the token of an assertion is good until it ends, whatever its standing grant still has', async () => {
  const { acme, token, around } = await startAt({ tokenTtlSeconds: 60 });
  const { access_token: held } = await token();

  const said = await around(
    60,
    async () => (await acme('POST', '/v1/tokens/verify', { token: held })).json().valid,
  );

  expect(said).toEqual([true, false]);
});

test('a standing grant is found again until it ends, and then another is made', async () => {
  const { token, around } = await startAt({ grantTtl: '1h' });
  const grantId = async () => (await token())['urn:service:grant'].grant_id;
  const first = await grantId();

  const [before, ended] = await around(3600, grantId);

  expect(before).toBe(first);
  expect(ended).not.toBe(first);
});
