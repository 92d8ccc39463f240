import { dataIn } from '../api/fields.ts';
import type { Context } from '../context.ts';
import { EXIT, wrongUsage } from '../errors.ts';
import { readManifest } from '../manifests/files.ts';
import { isRecorded, type Recorded, recordedAtService } from '../manifests/recorded.ts';
import { type Replayed, replayed } from '../manifests/replay.ts';
import { type Given, isSet, textOf } from '../program/options.ts';
import type { CommandSpec } from '../program/spec.ts';

export const REPLAY: readonly CommandSpec[] = [
  {
    name: 'replay',
    summary: 'Run a changed manifest over recorded calls, and say which answers would change',
    notes:
      'Calls come from the audit entries of the service, or from a file of results of enforce(). Arguments are in no audit entry, and caps count at their own time, so a call that depends on those is "unknown".',
    args: [{ name: 'manifest', about: 'the changed manifest' }],
    examples: [
      'behest replay manifests/crm.yaml --since 2026-11-01T00:00:00Z',
      'behest replay manifests/crm.yaml --calls results.json --fail-on-change',
    ],
    options: [
      { flags: '--calls <file>', about: 'results of enforce(), as a list of JSON or YAML' },
      { flags: '--since <time>', about: 'calls from then on' },
      { flags: '--until <time>', about: 'calls before that' },
      { flags: '--all', about: 'print the calls that do not change too' },
      { flags: '--fail-on-change', about: 'end with 1 where an answer would change' },
    ],
    run: replay,
  },
];

async function replay(context: Context, given: Given): Promise<number> {
  const manifest = await readManifest(context, given.args[0] ?? '');
  const file = textOf(given, 'calls');
  const calls =
    file === undefined
      ? await recordedAtService(context, manifest.connector, timesOf(given))
      : await callsIn(context, file);
  const outcomes = await replayed(
    manifest,
    calls.filter(({ connector }) => connector === manifest.connector),
  );
  const changed = outcomes.filter(({ before, after }) => before !== after && after !== 'unknown');
  const unknown = outcomes.filter(({ after }) => after === 'unknown').length;
  const rows: readonly Replayed[] = isSet(given, 'all') ? outcomes : changed;
  await context.rows(rows, { columns: ['tool', 'agentId', 'before', 'after', 'reason', 'at'] });
  context.note(
    `${outcomes.length} calls, ${changed.length} would be answered differently, ${unknown} cannot be known`,
  );
  return isSet(given, 'failOnChange') && changed.length > 0 ? EXIT.no : EXIT.done;
}

const timesOf = (given: Given) => ({ since: textOf(given, 'since'), until: textOf(given, 'until') });

async function callsIn(context: Context, file: string): Promise<Recorded[]> {
  const value = await dataIn(context, file);
  if (Array.isArray(value) && value.every(isRecorded)) return value;
  throw wrongUsage(
    `${file} has to be a list of results of enforce(), with connector, tool, scopes and allowed.`,
    context.help,
  );
}
