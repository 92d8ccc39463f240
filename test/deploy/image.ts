import { spawnSync } from 'node:child_process';
import fs, { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parseEnv } from 'node:util';
import { type Copy, DockerfileParser, type Instruction } from 'dockerfile-ast';
import { parseAllDocuments } from 'yaml';

export const ROOT = join(import.meta.dirname, '../..');

export const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/**
 * Reads the documents of a YAML file. @throws on a text that a strict reader refuses, such as a repeated key
 */
export function documentsOf(path: string): unknown[] {
  return parseAllDocuments(textOf(path), { strict: true }).map((document) => {
    const [problem] = [...document.errors, ...document.warnings];
    if (problem) throw problem;
    return document.toJS();
  });
}

/** Reads a file of `NAME=value` lines. */
export const settingsOf = (path: string) => parseEnv(textOf(path));

const PATH = 'deploy/Dockerfile';
const stages = DockerfileParser.parse(textOf(PATH)).getInstructions();

/** Finds the arguments of the last instruction of this name. Docker ignores the earlier ones. */
export function lastOf(keyword: string): string[] {
  const found = stages.filter((instruction) => instruction.getKeyword() === keyword).at(-1);
  return found?.getArguments().map((argument) => argument.getValue()) ?? [];
}

/** Reads a command in JSON form after its keyword. */
export function commandOf(keyword: 'CMD' | 'HEALTHCHECK'): string[] {
  const text = stages
    .filter((instruction) => instruction.getKeyword() === keyword)
    .at(-1)
    ?.getRawArgumentsContent();
  return JSON.parse(text?.slice(text.indexOf('[')) ?? '[]');
}

/**
 * Follows the Dockerfile without containers: each stage is a folder, `COPY` obeys `.dockerignore`, and `RUN`
 * runs.
 * @returns the root of the last stage
 */
export function buildImage(home: string): string {
  const roots = new Map<string, string>();
  let root = home;
  let workdir = '/';
  for (const instruction of stages) {
    const values = instruction.getArguments().map((argument) => argument.getValue());
    const keyword = instruction.getKeyword();
    if (keyword === 'FROM') {
      root = join(home, `stage-${roots.size}`);
      roots.set(values[2] ?? '', root);
      workdir = '/';
    }
    if (keyword === 'WORKDIR') workdir = values[0] ?? '/';
    const here = join(root, workdir);
    fs.mkdirSync(here, { recursive: true });
    if (keyword === 'COPY') copy(instruction as Copy, values, here, roots); // by its keyword
    if (keyword === 'RUN') run(instruction, here);
  }
  return root;
}

function copy(instruction: Copy, values: string[], here: string, roots: ReadonlyMap<string, string>): void {
  const from = instruction.getFromFlag()?.getValue();
  const to = values.at(-1) ?? '';
  for (const source of values.slice(0, -1)) {
    const at = from ? join(roots.get(from) ?? '', source) : join(ROOT, source);
    const isFolder = fs.statSync(at).isDirectory();
    const target =
      isFolder || !to.endsWith('/') ? join(here, to) : join(here, to, source.replace(/^.*\//, ''));
    fs.mkdirSync(dirname(target), { recursive: true });
    if (from)
      fs.renameSync(at, target); // nothing uses that stage again
    else fs.cpSync(at, target, { recursive: true, filter: (path) => !isIgnored(relative(ROOT, path)) });
  }
}

function run(instruction: Instruction, cwd: string): void {
  const command = instruction.getRawArgumentsContent() ?? '';
  const { status, stderr } = spawnSync('sh', ['-c', command], { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command}: ${stderr}`);
}

const rules = textOf('.dockerignore')
  .split('\n')
  .filter((line) => line && !line.startsWith('#'));

/** The last rule that matches the path, or a folder above it, decides. */
export function isIgnored(path: string): boolean {
  // The walk enters a folder on the way to an included file.
  if (rules.some((rule) => rule.startsWith(`!${path}/`))) return false;
  const last = rules.filter((rule) => patternOf(rule.replace(/^!/, '')).test(path)).at(-1);
  return last !== undefined && !last.startsWith('!');
}

/** A star matches names that begin with a dot, unlike in a shell. */
function patternOf(rule: string): RegExp {
  const parts = rule
    .replace(/[.]/g, '[.]')
    .replace(/[*][*][/]|[*]/g, (star) => (star === '*' ? '[^/]*' : '(.*/)?'));
  return new RegExp(`^${parts}(/|$)`);
}
