import { setTimeout as sleep } from 'node:timers/promises';
import { masked } from '../config/settings.ts';
import { keepProfile } from '../config/user-file.ts';
import type { Context } from '../context.ts';
import { wrongUsage } from '../errors.ts';
import { type CommandSpec, type Given, isSet, textOf } from '../program/spec.ts';

const MAX_GRACE = 86_400; // seconds

export const KEYS: readonly CommandSpec[] = [
  {
    name: 'keys rotate',
    summary: 'Replace the key, and keep the new one in the profile',
    operation: 'apiKeys.rotate',
    examples: ['behest keys rotate', 'behest keys rotate --grace now'],
    options: [{ flags: '--grace <seconds|now>', about: 'how long the old key still works', default: '300' }],
    async run(context, given) {
      const grace = textOf(given, 'grace') ?? '300';
      const seconds = Number(grace);
      const isFit = grace === 'now' || (/^\d+$/.test(grace) && seconds <= MAX_GRACE);
      if (!isFit)
        throw wrongUsage(
          `--grace has to be "now" or seconds up to ${MAX_GRACE}, and is "${grace}".`,
          context.help,
        );
      const { profileName, profile, url, apiKey } = await context.settings();
      const client = await context.client();
      const rotated = await client.rotateKey({ graceSeconds: grace === 'now' ? 'now' : seconds });
      if (apiKey !== profile.apiKey) {
        // Another key than that of the profile, which still holds: only its own place can keep the new one.
        await context.one(rotated);
        return context.note(
          `The old key was not that of profile "${profileName}", so the new one is not saved there. apiKey: shown once`,
        );
      }
      keepProfile(context.io, profileName, { apiKey: rotated.apiKey, baseUrl: url });
      const isTable = context.globals.output === 'table';
      await context.one(isTable ? { ...rotated, apiKey: masked(rotated.apiKey) } : rotated);
      context.note(
        `The new key is saved in profile "${profileName}".${isTable ? '' : ' apiKey: shown once'}`,
      );
    },
  },
];

export const SSO: readonly CommandSpec[] = [
  {
    name: 'sso login-url',
    summary: "Show the address to which a person's browser goes to sign in",
    operation: 'sso.login',
    args: [
      { name: 'org', about: 'the organization' },
      {
        name: 'domain',
        about: 'the domain of the person, where the organization has several',
        isOptional: true,
      },
    ],
    examples: ['behest sso login-url acme'],
    run: async (context, { args: [org = '', domain] }) =>
      context.one(await (await context.openClient()).sso.getLoginUrl(org, domain)),
  },
  {
    name: 'sso enforce',
    summary: 'Enforce single sign-on, or stop enforcing it',
    operation: 'sso.enforce',
    examples: ['behest sso enforce --enable', 'behest sso enforce --disable'],
    options: [
      { flags: '--enable', about: 'people sign in at their identity provider, and nowhere else' },
      { flags: '--disable', about: 'people may prove themselves in other ways too' },
    ],
    async run(context, given) {
      const enforce = isSet(given, 'enable');
      if (enforce === isSet(given, 'disable'))
        throw wrongUsage('Give one of: --enable, --disable.', context.help);
      await context.one(await (await context.client()).sso.setEnforcement({ enforce }));
    },
  },
];

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
