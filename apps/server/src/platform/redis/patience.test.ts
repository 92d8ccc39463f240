import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { patience } from './patience.ts';

describe('a command', () => {
  let now = 0;
  beforeEach(() => {
    now = 1000;
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    vi.spyOn(performance, 'now').mockImplementation(() => now);
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  /** Lets time pass, of which this process notices only the last moment. */
  const pass = (milliseconds: number) => {
    now += milliseconds;
    vi.advanceTimersByTime(200);
  };
  const asked = () => {
    const heard: string[] = [];
    const wait = patience({
      onSilence: () => heard.push('silence'),
      onAnswer: () => heard.push('answer'),
      failureOf: () => new Error('away'),
    });
    const answer = Promise.withResolvers<string>();
    const outcome = wait('server', () => answer.promise).catch((error: Error) => error.message);
    return { heard, wait, answer, outcome };
  };

  test('is given up when it has no answer for 1800 ms, and so are those after it, until it is answered', async () => {
    const { heard, wait, answer, outcome } = asked();
    for (let sweep = 0; sweep < 8; sweep += 1) pass(200);
    expect(heard).toEqual([]);
    pass(200);
    expect([await outcome, heard]).toEqual(['away', ['silence']]);
    await expect(wait('server', async () => 'never sent')).rejects.toThrow('away');

    answer.resolve('late');
    await answer.promise;
    expect(heard).toEqual(['silence', 'answer']);
    await expect(wait('server', async () => 'sent')).resolves.toBe('sent');
  });

  test('is not given up because this process stood still, which has not read the answer yet', async () => {
    const { heard, answer, outcome } = asked();
    pass(5000);
    answer.resolve('in time');
    expect([await outcome, heard]).toEqual(['in time', []]);
  });

  test('is given up after this process stood still, if there is still no answer', async () => {
    const { heard, outcome } = asked();
    pass(5000);
    pass(200);
    expect([await outcome, heard]).toEqual(['away', ['silence']]);
  });
});
