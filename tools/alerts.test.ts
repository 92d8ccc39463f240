import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { createMetrics } from '../apps/server/src/platform/telemetry/metrics.ts';

const textOf = (path: string) => readFileSync(join(import.meta.dirname, '..', path), 'utf8');
const operations = textOf('docs/operations.md');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}
const { groups } = parse(textOf('deploy/observability/prometheus-alerts.yaml'), { strict: true });
const rules: readonly Rule[] = groups.flatMap(({ rules: of }: { rules: Rule[] }) => of);

/** Every metric there is, as its `# HELP` and `# TYPE` lines tell of it. */
async function exposed() {
  const metrics = createMetrics();
  metrics.meter.poolOpened({ totalCount: 1, idleCount: 1, waitingCount: 0 });
  const { text } = await metrics.expose();
  const kinds = new Map([...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, kind]) => [name, kind]));
  return [...text.matchAll(/^# HELP (\w+) (.+)$/gm)].map(([, name = '', help = '']) => ({
    name,
    help,
    kind: kinds.get(name),
  }));
}

test('an alert asks only for metrics that there are', async () => {
  const names = new Set((await exposed()).map(({ name }) => name));
  const asked = rules.flatMap(({ expr }) => expr.replace(/"[^"]*"/g, '').match(/[a-z]+(?:_[a-z]+)+/g) ?? []);
  const words = new Set(['histogram_quantile']);
  const isKnown = (name: string) => words.has(name) || names.has(name.replace(/_(count|bucket|sum)$/, ''));

  expect(rules.length).toBeGreaterThan(7);
  expect(asked.filter((name) => !isKnown(name))).toEqual([]);
});

test('an alert says what it is about and leads to what to do', () => {
  const headings = [...operations.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title.toLowerCase().replaceAll(' ', '-'),
  );

  for (const { alert, annotations } of rules) {
    expect(alert).toMatch(/^Behest[A-Za-z]+$/);
    expect(annotations).toEqual({
      summary: expect.stringMatching(/\.$/),
      description: expect.stringMatching(/\.$/),
      runbook: expect.stringMatching(/^docs\/operations\.md#/),
    });
    expect(headings).toContain(annotations.runbook?.split('#')[1]);
  }
});

test('the operator’s guide has a row for every metric, in its own words', async () => {
  for (const { name, help, kind } of await exposed()) {
    const row = operations.split('\n').find((line) => line.startsWith(`| \`${name}\` |`));
    expect(row, name).toContain(`| ${kind} |`);
    expect(row).toContain(`| ${help} |`);
  }
});
