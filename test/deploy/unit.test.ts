import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT, settingsOf, textOf } from './files.ts';

const UNIT = 'deploy/systemd/behest.service';
const lines = textOf(UNIT).split('\n');
const all = (key: string) =>
  lines.filter((line) => line.startsWith(`${key}=`)).map((line) => line.slice(key.length + 1));
const hasAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0;

describe('the systemd unit', () => {
  test('has assignments, sections and comments, and nothing else', () => {
    const other = lines.filter((line) => !/^(#.*|\[(Unit|Service|Install)\]|[A-Z][A-Za-z]+=.*|)$/.test(line));

    expect(other).toEqual([]);
  });

  test.runIf(hasAnalyze)('has words that systemd knows, and a low exposure by its measure', () => {
    const run = (...flags: string[]) =>
      spawnSync('systemd-analyze', [...flags, join(ROOT, UNIT)], { encoding: 'utf8' });

    // systemd-analyze also looks for the program, which need not be at Linux's usual path on this machine.
    const said = run('verify')
      .stderr.split('\n')
      .filter((line) => line.includes('behest') && !line.includes('/usr/bin/node'));
    expect(said).toEqual([]);
    // The exposure is out of 100; a usual service has 96.
    expect(run('security', '--offline=true', '--threshold=20')).toMatchObject({ status: 0 });
    expect(run('security', '--offline=true', '--threshold=5').status).toBe(1);
  });

  test('keeps the options that confine the service', () => {
    const held = [
      'DynamicUser',
      'NoNewPrivileges',
      'ProtectHome',
      'PrivateTmp',
      'PrivateDevices',
      'RestrictNamespaces',
    ];

    expect(held.map((key) => all(key))).toEqual(held.map(() => ['yes']));
    expect([all('ProtectSystem'), all('CapabilityBoundingSet')]).toEqual([['strict'], ['']]);
    expect(all('MemoryDenyWriteExecute')).toEqual([]); // the engine would not start
  });

  test('passes each secret that a setting names, and gives the service enough time to end', () => {
    const environment: Record<string, string> = Object.fromEntries(
      all('Environment').map((pair) => pair.split('=')),
    );
    const named = Object.values(environment).filter((value) => value.startsWith('%d/'));

    expect(named.length).toBeGreaterThan(3);
    expect(all('LoadCredential').map((pair) => `%d/${pair.split(':')[0]}`)).toEqual(named);
    expect(Number(all('TimeoutStopSec')[0])).toBeGreaterThan(Number(environment.SHUTDOWN_TIMEOUT_SECONDS));
    expect(all('Restart')).toEqual(['on-failure']);
    expect(settingsOf('deploy/systemd/behest.env')).toMatchObject({ HOST: '127.0.0.1' });
  });
});
