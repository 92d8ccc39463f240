import type { ScimCalls } from '../../../packages/sdk/src/client/extras.ts';
import type { OwnCase } from './own-case.ts';
import type { World } from './world.ts';

/** The seven calls of one kind of resource. */
export function scimCases(kind: 'users' | 'groups'): Record<string, OwnCase> {
  const own = kind === 'users' ? 'User' : 'Group';
  const bodyOf = (name: string) =>
    kind === 'users' ? { userName: `${name}@acme.test` } : { displayName: name };
  const callsOf = ({ behest, scimToken }: World) => behest.scim[kind](scimToken);
  const strange = ({ behest, strangers }: World) => behest.scim[kind](strangers.scimToken);
  let made = 0;
  const newId = async (calls: ScimCalls) => {
    made += 1;
    return String((await calls.create(bodyOf(`${kind}${made}`))).id);
  };
  const changes = { Operations: [{ op: 'replace', path: 'displayName', value: 'Ada' }] };
  const cases: Record<keyof ScimCalls, OwnCase> = {
    list: { good: (world) => callsOf(world).list({ count: 1 }), refused: (world) => strange(world).list() },
    search: {
      good: (world) => callsOf(world).search({ count: 1 }),
      refused: (world) => strange(world).search({}),
    },
    create: {
      good: (world) => callsOf(world).create(bodyOf('first')),
      refused: (world) => callsOf(world).create({}),
    },
    get: {
      good: async (world) => callsOf(world).get(await newId(callsOf(world))),
      refused: (world) => callsOf(world).get('nobodys'),
    },
    replace: {
      good: async (world) => callsOf(world).replace(await newId(callsOf(world)), bodyOf('second')),
      refused: (world) => callsOf(world).replace('nobodys', bodyOf('third')),
    },
    update: {
      good: async (world) => callsOf(world).update(await newId(callsOf(world)), changes),
      refused: (world) => callsOf(world).update('nobodys', changes),
    },
    delete: {
      good: async (world) => callsOf(world).delete(await newId(callsOf(world))),
      refused: (world) => callsOf(world).delete('nobodys'),
    },
  };
  const answers: Readonly<Record<string, string>> = {
    list: `scim.list${own}s`,
    search: `scim.search${own}s`,
  };
  return Object.fromEntries(
    Object.entries(cases).map(([name, each]) => [
      `scim.${kind}().${name}`,
      { ...each, ...(name !== 'delete' && { answers: answers[name] ?? `scim.get${own}` }) },
    ]),
  );
}
