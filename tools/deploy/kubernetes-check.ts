import { join } from 'node:path';
import ts from 'typescript';

export interface Manifest {
  readonly path: string;
  readonly object: unknown;
}

/**
 * What is wrong with the manifests by the API's own types: each is an object literal to the compiler, so that an unknown
 * field is found like a wrong type. (The API's JSON schemas let unknown fields pass.)
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
