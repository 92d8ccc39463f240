import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { AnswerCut, guarded, untilBegun, whenOver } from './answer.ts';

test('an answer that is cut before anybody listens is over for all who look later', async () => {
  const answer = new IncomingMessage(new Socket());
  const { body, bytes } = guarded(answer, { sought: { forms: [], secrets: [] }, maxBytes: 10 });
  const begun = untilBegun(body);
  const [one, another] = [vi.fn(), vi.fn()];

  answer.push('abc');
  answer.push(null);
  await begun;
  await setImmediate();
  body.destroy(new AnswerCut('grant_ended'));
  await setImmediate();
  whenOver(body, one);
  await setImmediate();
  whenOver(body, another);
  await setImmediate();

  expect(body.errored).toMatchObject({ outcome: 'grant_ended' });
  expect([bytes(), one.mock.calls.length, another.mock.calls.length]).toEqual([3, 1, 1]);
});
