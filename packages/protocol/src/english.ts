import type { Purpose } from './purposes.ts';
import { refusalWords, ruleWords } from './rule-words.ts';
import type { ToolLevel } from './tool-scopes.ts';

const purposes: Record<Purpose, string> = {
  'aml.cdd.onboarding': 'Checking a new customer before taking them on, as anti-money-laundering rules ask',
  'aml.cdd.ongoing': 'Checking an existing customer again, as anti-money-laundering rules ask',
  'aml.screening': 'Comparing names with sanctions and watch lists, as anti-money-laundering rules ask',
  'procurement.vendor_onboarding': 'Taking on a new supplier',
  'payments.payout': 'Paying money out',
};

const toolLevels: Record<ToolLevel, (connector: string) => string> = {
  read: (connector) => `Read with ${connector}`,
  write: (connector) => `Read and make changes with ${connector}`,
  delete: (connector) => `Read, make changes and delete with ${connector}`,
  admin: (connector) => `Do everything with ${connector}, administration included`,
};

/** The words for `<resource>:<permission>`, by permission. */
const permissions = new Map<string, (resource: string) => string>([
  ['read', (resource) => `Read your ${resource}`],
  ['list', (resource) => `List your ${resource}`],
  ['search', (resource) => `Search your ${resource}`],
  ['download', (resource) => `Download your ${resource}`],
  ['write', (resource) => `Change your ${resource}`],
  ['update', (resource) => `Change your ${resource}`],
  ['edit', (resource) => `Change your ${resource}`],
  ['create', (resource) => `Add to your ${resource}`],
  ['upload', (resource) => `Add to your ${resource}`],
  ['delete', (resource) => `Delete from your ${resource}`],
  ['share', (resource) => `Share your ${resource} with others`],
  ['send', (resource) => `Send ${resource} in your name`],
  ['publish', (resource) => `Publish ${resource} in your name`],
  ['book', (resource) => `Book ${resource} in your name`],
  ['initiate', (resource) => `Start ${resource} in your name`],
  ['approve', (resource) => `Approve ${resource} in your name`],
  ['manage', (resource) => `Manage your ${resource}, settings included`],
  ['admin', (resource) => `Manage your ${resource}, settings included`],
  ['*', (resource) => `Do everything with your ${resource}`],
]);

/** Every text that this package makes for people, in one object, so that other languages can be added. */
export const english = {
  purposes,
  privatePurpose: (organisation: string, term: string) => `${organisation}’s own purpose: ${term}`,
  permissions,
  everything: 'Do everything except using tools',
  anyCredential: 'Use any of your stored credentials',
  credential: (service: string) => `Use your stored credentials for ${service}`,
  toolLevels,
  everyConnector: 'every connected tool',
  onlyResource: (resource: string) => `, only ${resource}`,
  onlyPrefix: (prefix: string) => `, only names that begin with ${prefix}`,
  cap: (amount: string) => `, for amounts up to ${amount}`,
  rules: ruleWords,
  refusals: refusalWords,
  duration: (parts: readonly string[]) =>
    `for ${new Intl.ListFormat('en-GB', { type: 'conjunction' }).format(parts)}`,
  units: {
    days: (count: number) => (count === 1 ? '1 day' : `${count} days`),
    hours: (count: number) => (count === 1 ? '1 hour' : `${count} hours`),
    minutes: (count: number) => (count === 1 ? '1 minute' : `${count} minutes`),
    seconds: (count: number) => (count === 1 ? '1 second' : `${count} seconds`),
  },
};
