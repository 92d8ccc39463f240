import { carryOut, type Step, stepsTo } from '../apply/plan.ts';
import { wantedIn } from '../apply/wanted.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../errors.ts';
import { printable } from '../output/table.ts';
import { type CommandSpec, type Given, isSet, textOf } from '../program/spec.ts';

const SIGNS = { create: '+', change: '~', delete: '-', keep: '=' } as const;

export const APPLY: readonly CommandSpec[] = [
  {
    name: 'apply',
    summary: 'Make the account as a file says: agents, manifests, webhooks, policies',
    notes:
      'Agents and policies are found by name, webhooks by url, manifests by connector. Kinds that the file leaves out are left alone. With --dry-run, or with --check, nothing is changed; --check ends with 1 where something differs.',
    examples: [
      'behest apply -f behest.yaml --dry-run',
      'behest apply -f behest.yaml --yes',
      'behest apply -f behest.yaml --check',
    ],
    options: [
      { flags: '-f, --file <file>', about: 'JSON or YAML, or - for standard input', isRequired: true },
      { flags: '--prune', about: 'delete what the file does not name, of the kinds that it has' },
      { flags: '--check', about: 'look for drift, and change nothing' },
    ],
    readsInDryRun: true,
    run: apply,
  },
];

async function apply(context: Context, given: Given): Promise<number> {
  const wanted = await wantedIn(context, textOf(given, 'file') ?? '');
  const client = await context.client();
  const steps = await stepsTo(client, wanted, isSet(given, 'prune'));
  const due = steps.filter(({ action }) => action !== 'keep');
  const isPlan = context.globals.isDry || isSet(given, 'check');
  const rows = steps.map((step) => ({ ...step, members: Object.keys(step.members) }));
  if (context.globals.output === 'table') for (const step of due) context.line(lineOf(step));
  else await context.rows(rows);
  context.note(`${due.length} to do, ${steps.length - due.length} as the file says`);
  if (isPlan) return isSet(given, 'check') && due.length > 0 ? EXIT.no : EXIT.done;
  if (due.length === 0) return EXIT.done;
  await context.confirm(`Do ${due.length === 1 ? 'this' : `these ${due.length} steps`}?`);
  for (const step of due) {
    const made = await carryOut(client, step);
    context.note(`${step.action}d ${step.kind} ${step.name}`);
    if (made?.secret !== undefined) context.note(`secret of ${step.name}: ${made.secret} (shown once)`);
  }
  return EXIT.done;
}

function lineOf({ action, kind, name, members }: Step): string {
  const changed = action === 'change' && kind !== 'manifests' ? `: ${Object.keys(members).join(', ')}` : '';
  const ended = action === 'delete' && kind === 'agents' ? ': its grants end' : '';
  return printable(`${SIGNS[action]} ${action} ${kind} ${name}${changed}${ended}`);
}
