import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { wrongUsage } from '../errors.ts';
import { type Given, isSet, textOf } from '../program/options.ts';
import type { CommandSpec } from '../program/spec.ts';

const [EVERY, LONGEST] = ['10', '600']; // seconds

export const DOMAINS: readonly CommandSpec[] = [
  {
    name: 'domains verify',
    summary: 'Look up the DNS record of a domain, and verify the domain by it',
    operation: 'domains.verify',
    notes: 'A new record takes minutes to be seen: --wait looks again until it is there.',
    args: [{ name: 'id', about: 'the id of the domain' }],
    examples: ['behest domains verify <id>', 'behest domains verify <id> --wait --for 1800'],
    options: [
      { flags: '--wait', about: 'look again until the record is there' },
      { flags: '--every <seconds>', about: 'the pause between two looks', default: EVERY },
      { flags: '--for <seconds>', about: 'how long to look, with --wait', default: LONGEST },
    ],
    run: verify,
  },
];

async function verify(context: Context, given: Given): Promise<void> {
  const [id = ''] = given.args;
  const [every, longest] = [secondsOf(context, given, 'every'), secondsOf(context, given, 'for')];
  const client = await context.client();
  const ends = Date.now() + (isSet(given, 'wait') ? longest : 0) * 1_000;
  for (;;) {
    const answer: unknown = await client.domains.verify(id).catch((error: unknown) => {
      const isLate = Date.now() + every * 1_000 > ends;
      if (isLate || Object(error).code !== 'VERIFICATION_FAILED') throw error;
      context.note('The record is not there yet.');
    });
    if (answer !== undefined) return context.one(answer);
    await sleep(every * 1_000, undefined, { signal: context.io.signal });
  }
}

function secondsOf(context: Context, given: Given, name: string): number {
  const text = textOf(given, name) ?? '';
  if (/^\d{1,5}$/.test(text)) return Number(text);
  throw wrongUsage(`--${name} has to be a number of seconds, and is "${text}".`, context.help);
}
