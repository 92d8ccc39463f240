import { flagOf } from '../secrets.ts';
import { optionsOf } from './fields.ts';
import type { Naming } from './naming.ts';
import type { Field, OperationRow } from './rows.ts';
import { isToken, tokenPlace } from './token-place.ts';

/** Values of required members in examples. A member with a closed set of values shows its first. */
const SAMPLES: Readonly<Record<string, string>> = {
  ...{ scopes: 'calendar:read', principalId: 'user_42', name: 'example', label: 'Okta' },
  ...{ agentId: '<agent-id>', grantId: '<grant-id>', agentDid: '<agent-did>' },
  ...{ amount: '1.50', initialBudget: '100.00', action: 'calendar.read', caseVersion: '2' },
  ...{ connector: 'crm', tool: 'lookup', service: 'github', domain: 'example.com' },
  ...{ resource: 'http://localhost:8080/mcp', issuer: 'https://token.actions.example.com' },
  ...{ subject: 'repo:acme/agent', url: 'https://hooks.example.com/T0/B0/x', email: 'ops@example.com' },
  ...{ from: '2026-12-24T00:00:00Z', until: '2027-01-02T00:00:00Z', clientId: 'behest' },
  ...{ successUrl: 'https://app.example.com/paid', cancelUrl: 'https://app.example.com/plans' },
  ...{ returnUrl: 'https://app.example.com/plans', redirectUri: 'https://app.example.com/callback' },
  ...{ redirectUris: 'https://app.example.com/callback', issuerUrl: 'https://login.example.com' },
};

/** The words behind the command in the example of its help. */
export function exampleOf(row: OperationRow, { example }: Naming): string {
  const credential = credentialOf(row);
  if (example !== undefined) return ` ${example}${credential}`;
  const args = [...row.path, ...row.first.filter((each) => !isToken(each))]
    .map((each) => ` <${flagOf(each)}>`)
    .join('');
  const needed = (row.body ?? []).filter(({ name, required }) => required && !isToken(name));
  const isChange = row.sends.startsWith('PATCH') && needed.length === 0; // a change of nothing is refused
  const required = isChange ? (row.body ?? []).filter(({ type }) => type === 'string').slice(0, 1) : needed;
  const isFile = row.body?.length === 0 || required.some(({ type }) => type === 'json');
  const options = isFile
    ? ' -f body.json'
    : required.map((field) => exampleOption(field, optionsOf(field)[0]?.flags ?? '')).join('');
  return `${args}${tokenPlace(row).isTaken ? ' --env TOKEN' : ''}${options}${credential}`;
}

function credentialOf({ as }: OperationRow): string {
  if (as === 'operator') return ' --admin-key-env ADMIN_API_KEY';
  return as === 'scim' ? ' --scim-token-env SCIM_TOKEN' : '';
}

function exampleOption({ name, values }: Field, flags: string): string {
  const [, flag = '', value = ''] = /^(--[\w-]+)(?:[^\w<-][^<]*)?(<.*>)$/.exec(flags) ?? [];
  return ` ${flag} ${SAMPLES[name] ?? values?.[0] ?? value}`;
}
