import { keepProfile } from '../config/keep.ts';
import { masked } from '../config/settings.ts';
import { wrongUsage } from '../errors.ts';
import { textOf } from '../program/options.ts';
import type { CommandSpec } from '../program/spec.ts';

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
