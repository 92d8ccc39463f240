import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createLogger, openLogOutput } from './logger.ts';

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'behest-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'log');
}

const noLoss = (lines: number) => expect.fail(`${lines} lines were lost`);

test('every line is written once, whole and in its order, before it is closed', async () => {
  const turns = fc.array(fc.array(fc.string({ unit: 'grapheme', maxLength: 9000 }), { maxLength: 8 }));
  await fc.assert(
    fc.asyncProperty(turns, async (written) => {
      const dest = newFile();
      const output = openLogOutput({ dest, onLost: noLoss });

      for (const lines of written) {
        for (const line of lines) output.write(`${JSON.stringify(line)}\n`);
        await new Promise(setImmediate);
      }
      await output.close();

      const read = readFileSync(dest, 'utf8').split('\n').slice(0, -1);
      expect(read.map((line) => JSON.parse(line))).toEqual(written.flat());
    }),
    { numRuns: 50 },
  );
});

test('lines without room are counted, and reported as soon as there is room', async () => {
  const dest = newFile();
  const told: number[] = [];
  const output = openLogOutput({
    dest,
    mostWaiting: 100,
    onLost(lines) {
      told.push(lines);
      output.write('told\n');
    },
  });

  for (let line = 0; line < 10; line += 1) output.write(`${'x'.repeat(29)}\n`);
  await expect.poll(() => told).toEqual([7]);
  output.write('after\n');
  await output.close();

  expect(readFileSync(dest, 'utf8')).toBe(`${`${'x'.repeat(29)}\n`.repeat(3)}told\nafter\n`);
});

describe('lines that wait for each other', () => {
  const openWithTimers = () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const dest = newFile();
    const output = openLogOutput({ dest: openSync(dest, 'a'), onLost: noLoss });
    onTestFinished(output.close);
    const turns = async (ends: () => boolean, most = 100_000) => {
      for (let turn = 0; turn < most && !ends(); turn += 1) await new Promise(setImmediate);
      return readFileSync(dest, 'utf8').trim().split('\n').filter(Boolean).length;
    };
    return { logger: createLogger('info', output), turns, size: () => readFileSync(dest).length };
  };

  test('are written a tenth of a second after the first', async () => {
    const { logger, turns, size } = openWithTimers();

    logger.info('one');
    vi.advanceTimersByTime(99);
    logger.warn('two');

    await expect(turns(() => false, 1000)).resolves.toBe(0);
    vi.advanceTimersByTime(1);
    await expect(turns(() => size() > 0)).resolves.toBe(2);
  });

  test('are written at once with an error', async () => {
    const { logger, turns, size } = openWithTimers();

    logger.info('one');
    logger.error('two');

    await expect(turns(() => size() > 0)).resolves.toBe(2);
  });
});

test('a full disk costs lines, and neither the process nor its end', async () => {
  const output = openLogOutput({ dest: '/dev/full', onLost: noLoss });

  for (let line = 0; line < 100; line += 1) {
    output.write(`${line}\n`);
    await new Promise(setImmediate);
  }

  await expect(output.close()).resolves.toBeUndefined();
  output.write('after the end\n');
});
