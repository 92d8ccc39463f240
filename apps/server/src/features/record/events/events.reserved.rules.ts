import type { Declared } from '../../../platform/acts.ts';

/**
 * Names that features of later releases will write. No developer may use them, from the first release on: a
 * developer's entry under such a name would read as the service's own word later. A name moves to the `<noun>.acts.ts` of its feature
 * when the feature is built.
 */
const acts = `
  member.invited member.joined member.updated member.removed
  console.recovery_used transparency.halted`;

const entries = `
  console.sign_in_failed transparency.restarted
  console.signed_in console.session_ended console.stepped_up`;

/** The operator's own chain has these. In a developer's chain they would read as the service's word too. */
const ofOperator = 'developer.plan_changed signing_key.rotated';

export const reservedActs: Readonly<Record<string, Declared>> = {
  ...declared(acts, { isEvent: true, isEntry: true }),
  ...declared(`${entries} ${ofOperator}`, { isEvent: false, isEntry: true }),
};

function declared(names: string, kind: Declared) {
  const each = names.split(/\s+/).filter(Boolean);
  return Object.fromEntries(each.map((name) => [name, kind]));
}
