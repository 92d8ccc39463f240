/** The fault of one field of a request. Lengths are `too_long` or `too_short`, numbers `too_large` or `too_small`. */
export type FieldProblem =
  | 'required'
  | 'type'
  | 'format'
  | 'too_long'
  | 'too_short'
  | 'too_large'
  | 'too_small'
  | 'unknown'
  | 'not_allowed';

/** One member of `details.fields`. Its `path` is dotted, as in `scopes.3`. */
export interface FieldFault {
  readonly path: string;
  readonly problem: FieldProblem;
}

/** Collects a fault, so that one answer can list all of them. @returns undefined, for the reader to return */
export type Report = (path: string, problem: FieldProblem) => undefined;

/** The path of a field, and the function that collects its faults. */
export interface Field {
  readonly path: string;
  readonly report: Report;
}

/** Makes a `Report` that appends to `faults`. */
export function reportTo(faults: FieldFault[]): Report {
  return (path, problem) => {
    faults.push({ path, problem });
    return undefined;
  };
}
