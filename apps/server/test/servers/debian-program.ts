import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type DebianProgram, type Unpacked, unpackProgram } from '../../../../scripts/machine/debian.ts';

const HOME = join(import.meta.dirname, '../../../../.behest');

/** The program of the machine, else one that is unpacked for this checkout. @throws where neither is to be had */
export async function debianProgram(program: DebianProgram): Promise<Unpacked> {
  const installed = join('/', program.path);
  if (existsSync(installed)) return { root: '/', path: installed, libraries: [] };
  const unpacked = await unpackProgram(program, HOME);
  if (!unpacked) throw new Error(`There is no ${program.name}: install it, or use a system with apt.`);
  return unpacked;
}
