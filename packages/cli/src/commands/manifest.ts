import { CHECKING } from '../manifests/commands-check.ts';
import { COMPARING } from '../manifests/commands-compare.ts';
import { PINNING } from '../manifests/commands-pin.ts';
import { WRITING } from '../manifests/commands-write.ts';
import type { CommandSpec } from '../program/spec.ts';

export const MANIFEST: readonly CommandSpec[] = [...CHECKING, ...WRITING, ...PINNING, ...COMPARING];
