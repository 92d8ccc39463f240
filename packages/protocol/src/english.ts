import type { Purpose } from './purposes.ts';
import { refusalWords, ruleTexts, ruleWordsIn } from './rule-words.ts';
import type { ToolLevel } from './tool-scopes.ts';

const purposes: Record<Purpose, string> = {
  'aml.cdd.onboarding': 'Checking a new customer before taking them on, as anti-money-laundering rules ask',
  'aml.cdd.ongoing': 'Checking an existing customer again, as anti-money-laundering rules ask',
  'aml.screening': 'Comparing names with sanctions and watch lists, as anti-money-laundering rules ask',
  'procurement.vendor_onboarding': 'Taking on a new supplier',
  'payments.payout': 'Paying money out',
};

const toolLevels: Record<ToolLevel, string> = {
  read: 'Read with {connector}',
  write: 'Read and make changes with {connector}',
  delete: 'Read, make changes and delete with {connector}',
  admin: 'Do everything with {connector}, administration included',
};

/** The words for `<resource>:<permission>`, by permission. */
const permissions = new Map<string, string>([
  ['read', 'Read your {resource}'],
  ['list', 'List your {resource}'],
  ['search', 'Search your {resource}'],
  ['download', 'Download your {resource}'],
  ['write', 'Change your {resource}'],
  ['update', 'Change your {resource}'],
  ['edit', 'Change your {resource}'],
  ['create', 'Add to your {resource}'],
  ['upload', 'Add to your {resource}'],
  ['delete', 'Delete from your {resource}'],
  ['share', 'Share your {resource} with others'],
  ['send', 'Send {resource} in your name'],
  ['publish', 'Publish {resource} in your name'],
  ['book', 'Book {resource} in your name'],
  ['initiate', 'Start {resource} in your name'],
  ['approve', 'Approve {resource} in your name'],
  ['manage', 'Manage your {resource}, settings included'],
  ['admin', 'Manage your {resource}, settings included'],
  ['*', 'Do everything with your {resource}'],
]);

/**
 * Every text that this package makes for people, in one object. Those about permissions and purposes have names in braces, so
 * that other languages can put them elsewhere.
 */
export const english = {
  purposes,
  privatePurpose: '{organisation}’s own purpose: {term}',
  permissions,
  /** Behind a developer's title of a permission. */
  titleThatActs: '{title} (may spend, send, delete or publish)',
  titleOfEverything: '{title} (may do everything)',
  everything: 'Do everything except using tools',
  anyCredential: 'Use any of your stored credentials',
  credential: 'Use your stored credentials for {service}',
  toolLevels,
  everyConnector: 'every connected tool',
  onlyResource: '{permission}, only {resource}',
  onlyPrefix: '{permission}, only names that begin with {prefix}',
  cap: '{permission}, for amounts up to {amount}',
  ruleTexts,
  rules: ruleWordsIn('en', (text) => text),
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
