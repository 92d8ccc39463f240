import { createHash } from 'node:crypto';
import { canonicalJson } from '@behest/protocol/canonical-json';
import type { ComplianceControl, Counts, PackQuery, PackSubject } from './compliance.schema.ts';

/** A list of a pack while it is written: its canonical text, and the hash of its elements. */
export interface Section {
  readonly write: (elements: readonly object[]) => string;
  readonly hash: () => string;
}

export function beginSection(): Section {
  const hash = createHash('sha256');
  let isFirst = true;
  return {
    write(elements) {
      let text = '';
      for (const element of elements) {
        const canonical = canonicalJson(element);
        hash.update(canonical).update('\n');
        text += isFirst ? canonical : `,${canonical}`;
        isFirst = false;
      }
      return text;
    },
    hash: () => hash.digest('hex'),
  };
}

export const digestOf = (facts: object): string =>
  createHash('sha256').update(canonicalJson(facts)).digest('hex');

/** The facts of a pack beside its lists, with the entries of each day. */
export interface PackFacts {
  readonly meta: {
    readonly generatedAt: string;
    readonly since?: string;
    readonly until?: string;
    readonly subject?: PackSubject;
  };
  readonly summary: Counts;
  readonly chainIntegrity: {
    readonly valid: boolean;
    readonly checkedEntries: number;
    readonly problem: string | null;
    readonly firstBrokenAt: string | null;
  };
  readonly controls: readonly ComplianceControl[];
  readonly days: ReadonlyMap<string, DayCounts>;
}

type Status = 'success' | 'failure' | 'blocked';
export type DayCounts = Record<Status, number>;

/** Adds an entry to its day, which `days` names as `2026-01-31`. */
export function countDay(
  days: Map<string, DayCounts>,
  { timestamp, status }: { readonly timestamp: string; readonly status: Status },
): void {
  const day = timestamp.slice(0, 10);
  const counts = days.get(day) ?? { success: 0, failure: 0, blocked: 0 };
  counts[status] += 1;
  days.set(day, counts);
}

const CHART = { width: 720, height: 180, mostBars: 60 };
const colours: readonly (readonly [Status, string])[] = [
  ['success', '#2e7d5b'],
  ['failure', '#c58b1b'],
  ['blocked', '#b3382c'],
];

/** A page without scripts that a person reads, made of the facts of a pack. Nothing in it comes from outside. */
export function reportOf({ meta, summary, chainIntegrity, controls, days }: PackFacts): string {
  const { generatedAt, since = 'the beginning', until = generatedAt, subject } = meta;
  const { valid, checkedEntries, problem, firstBrokenAt } = chainIntegrity;
  const chain = valid
    ? `All ${checkedEntries} entries of the audit chain are whole and in their places.`
    : `The audit chain is broken: ${problem} at ${firstBrokenAt}, after ${checkedEntries} good entries.`;
  const counts: readonly Row[] = (['agents', 'grants', 'auditEntries', 'policies'] as const).flatMap((kind) =>
    Object.entries(summary[kind]).map(([name, count]) => [words(kind), name, count] as const),
  );
  const evidence: readonly Row[] = controls.flatMap(({ framework, id, title, evidence: numbers }) =>
    Object.entries(numbers).map(
      ([name, count]) => [`${framework} ${id}`, title, words(name), count] as const,
    ),
  );
  return [
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Evidence</title>',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    `<style>${STYLE}</style></head><body>`,
    `<h1>Evidence</h1><p>From ${escaped(since)} to ${escaped(until)}, made at ${escaped(generatedAt)}.</p>`,
    ...(subject ? [`<p>${escaped(aboutOf(subject))}</p>`] : []),
    `<h2>Audit chain</h2><p class="${valid ? 'good' : 'bad'}">${escaped(chain)}</p>`,
    `<h2>Audit entries by ${unitOf(days)}</h2>${chartOf(days)}`,
    `<h2>Counts</h2>${tableOf(['Of', 'Status', 'Number'], counts)}`,
    `<h2>Controls</h2>${tableOf(['Control', 'Title', 'Evidence', 'Number'], evidence)}`,
    '</body></html>\n',
  ].join('\n');
}

/** Says that a pack is not about everything. */
function aboutOf({ agentId, principalId, caseId }: PackSubject): string {
  const named = Object.entries({ 'the agent': agentId, 'the person': principalId, 'the case': caseId });
  const whom = named.flatMap(([what, id]) => (id === undefined ? [] : `${what} ${id}`));
  return `Only about ${whom.join(' and ')}. The chain was verified whole.`;
}

const STYLE =
  'body{font:16px/1.5 sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a}' +
  'table{border-collapse:collapse}td,th{text-align:left;padding:.2rem .8rem .2rem 0;border-bottom:1px solid #ccc}' +
  'td:last-child,th:last-child{text-align:right}.bad{color:#b3382c;font-weight:bold}svg{max-width:100%}';

type Row = readonly (string | number)[];

function tableOf(heads: readonly string[], rows: readonly Row[]): string {
  const line = (tag: string, cells: Row) =>
    `<tr>${cells.map((cell) => `<${tag}>${escaped(String(cell))}</${tag}>`).join('')}</tr>`;
  return `<table>${line('th', heads)}${rows.map((row) => line('td', row)).join('')}</table>`;
}

/** Days, or months when there are too many days, or years. */
const lengths = { day: 10, month: 7, year: 4 };

function unitOf(days: PackFacts['days']): keyof typeof lengths {
  const bars = (length: number) => new Set([...days.keys()].map((day) => day.slice(0, length))).size;
  if (bars(lengths.day) <= CHART.mostBars) return 'day';
  return bars(lengths.month) <= CHART.mostBars ? 'month' : 'year';
}

function chartOf(days: PackFacts['days']): string {
  const length = lengths[unitOf(days)];
  const bars = new Map<string, DayCounts>();
  for (const [day, counts] of days) {
    const sum = bars.get(day.slice(0, length)) ?? { success: 0, failure: 0, blocked: 0 };
    for (const [status] of colours) sum[status] += counts[status];
    bars.set(day.slice(0, length), sum);
  }
  if (bars.size === 0) return '<p>There are no entries.</p>';
  const totals = [...bars.values()].map(({ success, failure, blocked }) => success + failure + blocked);
  const [most, step] = [Math.max(...totals), CHART.width / bars.size];
  const rects = [...bars].flatMap(([name, counts], at) => {
    let top = CHART.height;
    return colours.map(([status, colour]) => {
      const height = (counts[status] / most) * CHART.height;
      top -= height;
      const place = `x="${rounded(at * step)}" y="${rounded(top)}" width="${rounded(step * 0.9)}" height="${rounded(height)}"`;
      return `<rect ${place} fill="${colour}"><title>${name}: ${counts[status]} ${status}</title></rect>`;
    });
  });
  const [first = '', last = ''] = [[...bars.keys()][0], [...bars.keys()].at(-1)];
  const legend = colours.map(([status, colour]) => `<span style="color:${colour}">■</span> ${status}`);
  return [
    `<svg viewBox="0 0 ${CHART.width} ${CHART.height}" role="img" aria-label="Audit entries, at most ${most}">`,
    `${rects.join('')}</svg><p>${first} to ${last}, at most ${most}. ${legend.join(' ')}</p>`,
  ].join('');
}

const rounded = (number: number) => String(Number(number.toFixed(2)));

/** `auditEntries` as `audit entries`. */
const words = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string) => text.replaceAll(/[&<>"]/g, (character) => escapes[character] ?? '');

/** The numbers of a pack, from which the evidence for each control is taken. */
export interface PackNumbers extends Pick<Counts, 'agents' | 'grants' | 'auditEntries' | 'policies'> {
  readonly goodEntries: number;
  /** Entries that tell of an erasure. */
  readonly erasures: number;
}

type ControlRow = readonly [
  framework: ComplianceControl['framework'],
  id: string,
  title: string,
  evidence: (numbers: PackNumbers) => ComplianceControl['evidence'],
];

const rows: readonly ControlRow[] = [
  [
    'soc2',
    'CC6.1',
    'Logical access is restricted',
    ({ agents, grants }) => ({ activeAgents: agents.active, activeGrants: grants.active }),
  ],
  [
    'soc2',
    'CC6.2',
    'Access is authorized before it is granted',
    ({ agents, grants }) => ({ agents: agents.total, grants: grants.total }),
  ],
  [
    'soc2',
    'CC6.3',
    'Access is changed and removed',
    ({ agents, grants }) => ({
      revokedAgents: agents.revoked,
      suspendedAgents: agents.suspended,
      revokedGrants: grants.revoked,
      expiredGrants: grants.expired,
    }),
  ],
  [
    'soc2',
    'CC7.2',
    'Activity is monitored',
    ({ auditEntries, goodEntries }) => ({ auditEntries: auditEntries.total, verifiedEntries: goodEntries }),
  ],
  [
    'soc2',
    'CC7.3',
    'Security events are evaluated',
    ({ auditEntries }) => ({ blockedEntries: auditEntries.blocked, failedEntries: auditEntries.failure }),
  ],
  [
    'gdpr',
    'Art. 5(1)(f)',
    'Integrity and confidentiality',
    ({ auditEntries, goodEntries }) => ({ auditEntries: auditEntries.total, verifiedEntries: goodEntries }),
  ],
  [
    'gdpr',
    'Art. 7',
    'Conditions for consent',
    ({ grants }) => ({ grants: grants.total, revokedGrants: grants.revoked }),
  ],
  ['gdpr', 'Art. 17', 'Right to erasure', ({ erasures }) => ({ erasures })],
  [
    'gdpr',
    'Art. 30',
    'Records of processing activities',
    ({ auditEntries, agents }) => ({ auditEntries: auditEntries.total, agents: agents.total }),
  ],
  [
    'gdpr',
    'Art. 32',
    'Security of processing',
    ({ policies, auditEntries }) => ({ policies: policies.total, blockedEntries: auditEntries.blocked }),
  ],
];

export const controlsOf = (wanted: PackQuery['framework'], numbers: PackNumbers): ComplianceControl[] =>
  rows
    .filter(([framework]) => wanted === 'all' || framework === wanted)
    .map(([framework, id, title, evidence]) => ({ id, framework, title, evidence: evidence(numbers) }));
