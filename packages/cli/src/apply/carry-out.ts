import type { Behest } from '@behest/sdk';
import type { Step } from './plan.ts';

/** Makes one step. @returns the answer of the service, where it has something that no other answer shows */
export async function carryOut(
  client: Behest,
  { action, kind, id = '', members }: Step,
): Promise<{ readonly secret?: string } | undefined> {
  if (kind === 'manifests') {
    if (action === 'delete') await client.manifests.remove(id);
    else await client.manifests.put(String(members.connector), { ...members });
    return undefined;
  }
  const resource: unknown = client[kind];
  const name = {
    create: kind === 'agents' ? 'register' : 'create',
    change: 'update',
    delete: 'delete',
    keep: '',
  }[action];
  const method: unknown = Reflect.get(Object(resource), name);
  if (typeof method !== 'function') throw new TypeError(`The SDK has no ${kind}.${name}.`);
  // The service checks the members, which come from a file.
  const args = action === 'create' ? [members] : action === 'change' ? [id, members] : [id];
  const { secret } = Object(await method.apply(resource, args));
  return typeof secret === 'string' ? { secret } : undefined;
}
