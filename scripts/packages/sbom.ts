import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Locked {
  readonly version: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly resolved?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}
type Lock = Readonly<Record<string, Locked>>;

interface Published {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** The meter is no package of its own: the SDK holds it. */
const INSIDE_SDK = '@behest/meter';

/** A package that a published one needs, or holds. */
interface Part {
  readonly name: string;
  readonly locked: Locked;
  readonly isHeld: boolean;
  readonly needs: readonly string[];
}

/**
 * The bill of materials of a package, as CycloneDX: every package that it is installed with, at the versions that it is
 * tested with, and those whose code it holds. The same sources make the same text, so it has no time of its making.
 *
 * @param held names of packages whose code is in the bundle
 * @see https://cyclonedx.org/docs/1.6/json/
 */
export function sbomText(root: string, published: Published, held: readonly string[]): string {
  const { packages: lock }: { packages: Lock } = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  );
  const parts = new Map<string, Part>();
  const partsOf = (name: string, from: string, isHeld: boolean): string[] => {
    if (name !== INSIDE_SDK) return [collect(name, from, isHeld)];
    const { dependencies = {} } = lockedAt(lock, `node_modules/${name}`);
    const others = Object.keys(dependencies).filter((each) => !each.startsWith('@behest/'));
    return others.map((each) => collect(each, '', true));
  };
  const collect = (name: string, from: string, isHeld: boolean): string => {
    const at = placeOf(lock, name, from);
    const locked = lockedAt(lock, at);
    const ref = refOf(name, locked.version);
    if (parts.has(ref)) return ref;
    parts.set(ref, { name, locked, isHeld, needs: [] });
    const needs = Object.keys(locked.dependencies ?? {}).flatMap((each) => partsOf(each, at, isHeld));
    parts.set(ref, { name, locked, isHeld, needs });
    return ref;
  };
  const needs = [
    ...Object.keys(published.dependencies).map((name) => collect(name, '', false)),
    ...held.map((name) => collect(name, '', true)),
  ];
  const own = refOf(published.name, published.version);
  const sorted = [...parts].sort(([one], [other]) => (one < other ? -1 : 1));
  const body = {
    metadata: { component: componentOf(published.name, published, false) },
    components: sorted.map(([, { name, locked, isHeld }]) => componentOf(name, locked, isHeld)),
    dependencies: [
      { ref: own, dependsOn: needs.toSorted() },
      ...sorted.map(([ref, part]) => ({ ref, dependsOn: part.needs.toSorted() })),
    ],
  };
  const head = { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber: serialOf(JSON.stringify(body)) };
  return `${JSON.stringify({ ...head, version: 1, ...body }, undefined, 2)}\n`;
}

const refOf = (name: string, version: string) => `pkg:npm/${name.replace('@', '%40')}@${version}`;

/** The place of a package that another one loads: below it, or below what it stands in. */
function placeOf(lock: Lock, name: string, from: string): string {
  for (let above = from; ; above = above.replace(/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/, '')) {
    const at = `${above}${above && '/'}node_modules/${name}`;
    if (at in lock) return at;
    if (above === '') throw new Error(`package-lock.json has no ${name}.`);
    if (!above.includes('node_modules/')) above = '';
  }
}

function lockedAt(lock: Lock, at: string): Locked {
  const locked = lock[at];
  const target = locked?.link && locked.resolved !== undefined ? lock[locked.resolved] : locked;
  if (!target) throw new Error(`package-lock.json has no ${at}.`);
  return target;
}

function componentOf(
  name: string,
  { version, license, integrity }: Pick<Locked, 'version' | 'license' | 'integrity'>,
  isHeld: boolean,
) {
  const ref = refOf(name, version);
  const content = integrity && Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
  return {
    ...{ type: 'library', 'bom-ref': ref, name, version, purl: ref, scope: 'required' },
    ...(license && {
      licenses: [/ /.test(license) ? { expression: license } : { license: { id: license } }],
    }),
    ...(content && { hashes: [{ alg: 'SHA-512', content }] }),
    ...(isHeld && { properties: [{ name: 'behest:bundled', value: 'true' }] }),
  };
}

/** A UUID that the content decides: version 8 of RFC 9562. */
function serialOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
