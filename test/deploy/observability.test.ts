import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { declaredMetrics } from '../../apps/server/src/features.ts';
import { createMetrics } from '../../apps/server/src/platform/telemetry/metrics.ts';

const textOf = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
const operations = textOf('docs/operations.md');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}
const { groups } = parse(textOf('deploy/observability/prometheus-alerts.yaml'), { strict: true });
const rules: readonly Rule[] = groups.flatMap(({ rules: of }: { rules: Rule[] }) => of);

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[];
}
const dashboard = JSON.parse(textOf('deploy/observability/grafana-dashboard.json'));
const panels: readonly Panel[] = dashboard.panels;
const graphs = panels.filter(({ type }) => type !== 'row');

/** Every declared metric, those included that a process registers when it opens the feature. */
function allMetrics() {
  const metrics = createMetrics(declaredMetrics);
  for (const [name, { kind }] of Object.entries(declaredMetrics)) {
    if (kind === 'asked') metrics.ask(name, async () => 0);
  }
  return metrics;
}

/** Reads every metric of the service from its `# HELP` and `# TYPE` lines. */
async function exposed(metrics = allMetrics()) {
  metrics.meter.poolOpened({ totalCount: 1, idleCount: 1, waitingCount: 0 });
  const { text } = await metrics.expose();
  const kinds = new Map([...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, kind]) => [name, kind]));
  return [...text.matchAll(/^# HELP (\w+) (.+)$/gm)].map(([, name = '', help = '']) => ({
    name,
    help,
    kind: kinds.get(name),
  }));
}

/**
 * Lists the metrics that an expression may ask for: those of the service, of every Node process, and of a
 * scrape.
 */
async function askable(): Promise<Set<string>> {
  const metrics = allMetrics();
  metrics.watchProcess();
  return new Set(['up', ...(await exposed(metrics)).map(({ name }) => name)]);
}

/** Finds the metrics in an expression of PromQL. @throws when the text is not PromQL */
function metricsIn(expr: string): string[] {
  const text = expr.replaceAll('$__rate_interval', '5m'); // Grafana fills it in
  const names: string[] = [];
  parser.parse(text).iterate({
    enter({ name, type, from, to, node }) {
      if (type.isError) throw new Error(`${text}\n${' '.repeat(from)}^ is no PromQL`);
      if (name === 'Identifier' && node.parent?.name === 'VectorSelector') names.push(text.slice(from, to));
    },
  });
  return names.map((name) => name.replace(/(?<=_seconds)_(count|bucket|sum)$/, ''));
}

describe('an alert', () => {
  test('asks for existing metrics only', async () => {
    const known = await askable();
    const asked = rules.flatMap(({ expr }) => metricsIn(expr));

    expect(rules.length).toBeGreaterThan(7);
    expect(asked.length).toBeGreaterThanOrEqual(rules.length);
    expect(asked.filter((name) => !known.has(name))).toEqual([]);
  });

  test('describes the problem and links to the steps', () => {
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
});

describe('the dashboard', () => {
  test('shows every metric of the service, and no other', async () => {
    const known = await askable();
    const asked = graphs.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => metricsIn(expr)));

    expect(asked.filter((name) => !known.has(name))).toEqual([]);
    expect((await exposed()).map(({ name }) => name).filter((name) => !asked.includes(name))).toEqual([]);
  });

  test('describes each panel and names its source', () => {
    expect(dashboard.templating.list.map(({ name }: { name: string }) => name)).toEqual([
      'datasource',
      'job',
    ]);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const panel of graphs) {
      expect(panel).toMatchObject({
        title: expect.stringMatching(/^[A-Z]/),
        description: expect.stringMatching(/\.$/),
        datasource: { type: 'prometheus', uid: expect.stringMatching(/^\$\{datasource\}$/) },
      });
      expect(panel.targets?.length).toBeGreaterThan(0);
      for (const { expr } of panel.targets ?? []) expect(expr).toContain('{job="$job"');
    }
  });

  test('has its panels beside and below each other', () => {
    const places = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)} ${y + Math.floor(at / w)}`),
    );

    expect(new Set(places).size).toBe(places.length);
    expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]); // Grafana's grid
  });
});

test('the operator’s guide has a row for every metric, in its own words', async () => {
  for (const { name, help, kind } of await exposed()) {
    const row = operations.split('\n').find((line) => line.startsWith(`| \`${name}\` |`));
    expect(row ?? 'no row', name).toContain(`| ${kind} |`);
    expect(row).toContain(`| ${help} |`);
  }
});
