import { join } from 'node:path';
import ts from 'typescript';

export interface Manifest {
  readonly path: string;
  readonly object: unknown;
}

/**
 * Checks the manifests against the types of the API. Each manifest becomes an object literal, so that the
 * compiler finds an unknown field as it finds a wrong type. (The API's JSON schemas accept unknown fields.)
 * @returns a line for each fault
 */
export function manifestProblems(manifests: readonly Manifest[]): string[] {
  const file = join(import.meta.dirname, 'manifests.virtual.ts');
  const lines = manifests.map(({ object }, index) => {
    const { apiVersion, kind } = Object(object);
    return `export const m${index}: Kinds['${apiVersion} ${kind}'] = ${JSON.stringify(object)};`;
  });
  const text = `import type { Kinds } from './kubernetes-kinds.ts';${lines.join('\n')}`; // a line each, from the first

  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    lib: ['lib.es5.d.ts'],
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.NodeNext,
    allowImportingTsExtensions: true,
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (path) => path === file || fileExists(path);
  host.getSourceFile = (path, ...rest) =>
    path === file ? ts.createSourceFile(path, text, ts.ScriptTarget.ESNext) : getSourceFile(path, ...rest);
  return ts.getPreEmitDiagnostics(ts.createProgram([file], options, host)).map((found) => {
    const line = found.file?.getLineAndCharacterOfPosition(found.start ?? 0).line ?? 0;
    return `${manifests[line]?.path}: ${ts.flattenDiagnosticMessageText(found.messageText, ' ')}`;
  });
}
