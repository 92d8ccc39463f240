import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { type Block, nameOf } from './blocks.ts';
import { moduleOf } from './surroundings.ts';

/** The faults that the compiler finds in samples, a line for each. */
export function sampleFaults(root: string, samples: readonly Block[]): string[] {
  const texts = new Map(
    samples.map((sample, index) => [
      join(import.meta.dirname, `sample-${index}.virtual.ts`),
      { sample, text: moduleOf(sample.code) },
    ]),
  );
  const config = ts.readConfigFile(join(root, 'tsconfig.base.json'), (path) => readFileSync(path, 'utf8'));
  const { options } = ts.convertCompilerOptionsFromJson(config.config.compilerOptions, root);
  const checked: ts.CompilerOptions = { ...options, noUnusedLocals: false, noUnusedParameters: false };
  const host = ts.createCompilerHost(checked);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (path) => texts.has(path) || fileExists(path);
  host.getSourceFile = (path, version, ...rest) => {
    const text = texts.get(path)?.text;
    return text === undefined
      ? getSourceFile(path, version, ...rest)
      : ts.createSourceFile(path, text, version);
  };
  const program = ts.createProgram([...texts.keys()], checked, host);
  return [...texts].flatMap(([path, { sample }]) => {
    const source = program.getSourceFile(path);
    const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    return found.map(
      ({ messageText }) => `${nameOf(sample)}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
    );
  });
}
