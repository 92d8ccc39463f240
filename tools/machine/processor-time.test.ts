import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { descendantSeconds, programSeconds } from './processor-time.ts';

/** Uses at least this much processor time. */
const busy = (seconds: number) =>
  `while (process.cpuUsage().user + process.cpuUsage().system < ${seconds * 1e6});`;

test.runIf(process.platform === 'linux')('a child that has ended is counted, and its own child too', () => {
  const before = descendantSeconds(process.pid);
  const grandchild = JSON.stringify(['-e', busy(0.1)]);
  spawnSync(process.execPath, [
    '-e',
    `require('node:child_process').spawnSync(process.execPath, ${grandchild}); ${busy(0.1)}`,
  ]);

  expect(descendantSeconds(process.pid) - before).toBeGreaterThan(0.05);
});

test.runIf(process.platform === 'linux')(
  'a child that lives is counted, also by the name of its program',
  async () => {
    const before = descendantSeconds(process.pid);
    const child = spawn(process.execPath, [
      '-e',
      `${busy(0.1)} process.title = 'worker'; console.log('done'); setInterval(() => {}, 1000);`,
    ]);
    onTestFinished(() => void child.kill());
    await once(child.stdout, 'data');

    expect(descendantSeconds(process.pid) - before).toBeGreaterThan(0.05);
    expect(programSeconds(process.pid, 'worker')).toBeGreaterThan(0.05);
    expect(programSeconds(process.pid, 'nobody')).toBe(0);
  },
);
