import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { type Block, nameOf } from './blocks.ts';
import { moduleOf } from './surroundings.ts';

/** The faults that the compiler finds in samples, a line for each. */
export function sampleFaults(root: string, samples: readonly Block[]): string[] {
  const named = new Map(
    samples.map((sample, index) => [join(import.meta.dirname, `sample-${index}.virtual.ts`), sample]),
  );
  const texts = new Map([...named].map(([path, { code }]) => [path, moduleOf(code)]));
  return compilerFaults(root, texts).map(({ path, message }) => {
    const sample = named.get(path);
    return `${sample ? nameOf(sample) : path}: ${message}`;
  });
}

/** A fault of a module, at a line that is counted from 0. */
interface CompilerFault {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

/**
 * The faults that the compiler finds in modules that are in no file.
 *
 * @param texts by the path from which a module imports
 */
export function compilerFaults(root: string, texts: ReadonlyMap<string, string>): CompilerFault[] {
  const config = ts.readConfigFile(join(root, 'tsconfig.base.json'), (path) => readFileSync(path, 'utf8'));
  const { options } = ts.convertCompilerOptionsFromJson(config.config.compilerOptions, root);
  const checked: ts.CompilerOptions = { ...options, noUnusedLocals: false, noUnusedParameters: false };
  const host = ts.createCompilerHost(checked);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (path) => texts.has(path) || fileExists(path);
  host.getSourceFile = (path, version, ...rest) => {
    const text = texts.get(path);
    return text === undefined
      ? getSourceFile(path, version, ...rest)
      : ts.createSourceFile(path, text, version);
  };
  const program = ts.createProgram([...texts.keys()], checked, host);
  return [...texts.keys()].flatMap((path) => {
    const source = program.getSourceFile(path);
    const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    return found.map(({ messageText, start = 0 }) => ({
      path,
      line: source?.getLineAndCharacterOfPosition(start).line ?? 0,
      message: ts.flattenDiagnosticMessageText(messageText, ' '),
    }));
  });
}
