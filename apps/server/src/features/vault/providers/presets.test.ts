import { expect, test } from 'vitest';
import presets from './providers.presets.json' with { type: 'json' };
import { newSettings } from './providers.rules.ts';
import { shownPresets, withPreset } from './show.ts';

const ENDPOINTS = [
  'authorizationEndpoint',
  'tokenEndpoint',
  'revocationEndpoint',
  'userinfoEndpoint',
] as const;
const issuer = 'https://accounts.acme.test/tenant';
const own = { clientId: 'client', clientSecret: 'secret of the client' };

test.each(Object.entries(presets))('the preset %s makes a whole provider', (preset, described) => {
  const open: readonly string[] = described.open;
  const hasOwnIssuer = open.includes('issuer') && !('issuer' in described);
  const settings = newSettings(withPreset({ preset, ...own, ...(hasOwnIssuer && { issuer }) }));

  const urls = [settings.issuer, ...ENDPOINTS.map((name) => settings[name])].filter((url) => url !== null);
  expect(urls.length).toBeGreaterThan(0);
  for (const url of urls) expect(url).toMatch(/^https:[/][/][^?#@]+$/);
  const isByIssuer = settings.kind === 'oidc';
  expect(settings.issuer !== null).toBe(isByIssuer);
  expect(settings.authorizationEndpoint !== null && settings.tokenEndpoint !== null).toBe(!isByIssuer);
});

test('the presets are those that the documentation of the upstreams was read for', () => {
  const names =
    'google microsoft github gitlab slack atlassian notion linear hubspot salesforce dropbox zoom';

  expect(shownPresets.map(({ preset }) => preset)).toEqual(names.split(' '));
});

test('Microsoft needs the issuer of a tenant, because that of all tenants names none in its metadata', () => {
  expect(() => newSettings(withPreset({ preset: 'microsoft', ...own }))).toThrow(
    expect.objectContaining({ code: 'BAD_REQUEST' }),
  );
});
