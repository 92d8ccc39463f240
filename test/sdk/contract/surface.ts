import { Behest, BehestAdmin } from '@behest/sdk';

/** These make the clients of one person and of one directory, whose methods are listed in their place. */
const MAKERS = ['principal', 'scim.users', 'scim.groups'];

/** The methods that the clients have when they run, as `agents.list`, `scim.users().get`, `admin.stats`. */
export function methodsOfSdk(): string[] {
  const settings = { baseUrl: 'https://auth.test', fetch: async () => Response.json({}) };
  const behest = new Behest({ ...settings, apiKey: 'bh_test_1' });
  const admin = new BehestAdmin({ ...settings, adminKey: 'operator' });
  return [
    ...methodsIn(behest).filter((name) => !MAKERS.includes(name)),
    ...methodsIn(Behest.prototype),
    ...methodsIn(Object.getPrototypeOf(behest.approvals), 'approvals.'),
    ...methodsIn(Behest, 'Behest.'),
    ...methodsIn(behest.principal('session'), 'principal().'),
    ...methodsIn(behest.scim.users('token'), 'scim.users().'),
    ...methodsIn(behest.scim.groups('token'), 'scim.groups().'),
    ...methodsIn(admin, 'admin.'),
    ...methodsIn(BehestAdmin.prototype, 'admin.'),
  ].toSorted();
}

function methodsIn(holder: object, prefix = ''): string[] {
  const own = Object.entries(Object.getOwnPropertyDescriptors(holder));
  return own.flatMap(([name, { value }]) => {
    if (typeof value === 'function') return name === 'constructor' ? [] : [`${prefix}${name}`];
    const isArea = name !== 'prototype' && Object.getPrototypeOf(value ?? 0) === Object.prototype;
    return isArea ? methodsIn(value, `${prefix}${name}.`) : [];
  });
}
