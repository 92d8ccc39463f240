import { readFileSync } from 'node:fs';

/** Licences, by their SPDX ids, that let a program be used, changed and sold without opening its own sources. */
const PERMISSIVE: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'PSF-2.0',
  'Python-2.0',
  'Unlicense',
]);

interface Locked {
  readonly license?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly optional?: boolean;
}

/** A package of the toolchain or of the product, with the licence that it names. */
export interface Licensed {
  readonly name: string;
  readonly license: string | undefined;
  /** True for a package that the service runs with, or that is installed with a published one. */
  readonly isOfProduct: boolean;
}

export function licencesIn(lockFile: string): Licensed[] {
  const { packages }: { packages: Record<string, Locked> } = JSON.parse(readFileSync(lockFile, 'utf8'));
  return Object.entries(packages)
    .filter(([at, { link }]) => at.includes('node_modules/') && !link)
    .map(([at, { license, dev, devOptional, optional }]) => ({
      name: at.replace(/^.*node_modules\//, ''),
      license,
      isOfProduct: !(dev || devOptional || optional),
    }));
}

/** Whether one of the alternatives of an SPDX expression is permissive, with all that it joins. */
export function isPermissive(license: string | undefined): boolean {
  const alternatives = license?.replace(/^\((.*)\)$/, '$1').split(' OR ') ?? [];
  return alternatives.some((each) => each.split(' AND ').every((id) => PERMISSIVE.has(id)));
}
